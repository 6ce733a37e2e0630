// Tests of what a confined process can and cannot do. Each action runs in its own child process.

#include "backends/worker/confinement.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/worker/restrictions.hpp"
#include "backends/worker/sanitized.hpp"

namespace assay::worker {
namespace {

constexpr int kDone = 42;
constexpr int kRejected = 43;

class ConfinementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-confinement-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::filesystem::create_directory(folder_ / "code");
    std::ofstream(folder_ / "code" / "text") << "inside";
    std::ofstream(folder_ / "text") << "outside";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Confines this child process, performs the action and exits with its status.
  [[noreturn]] void act(const WorkerLimits& worker_limits, const std::function<int()>& action) const {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const Confinement confinement = confine(worker_limits, (folder_ / "code").c_str());
    ::_exit(confinement.system_call_filter_error > 0 || confinement.file_restriction_error > 0 ? kRejected : action());
  }
  [[nodiscard]] std::string inside() const { return folder_ / "code" / "text"; }
  [[nodiscard]] std::string outside() const { return folder_ / "text"; }

  /// Whether this system supports the parts of the confinement that the limits request.
  [[nodiscard]] bool has(const WorkerLimits& worker_limits) const {
    const pid_t child = ::fork();
    if (child == 0) act(worker_limits, [] { return kDone; });
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == kDone;
  }

  std::filesystem::path folder_;
};

int opens(const std::string& path, int flags) { return ::open(path.c_str(), flags, 0600) >= 0 ? kDone : errno; }
int done(long result) { return result >= 0 ? kDone : errno; }

constexpr WorkerLimits kCalls{.filter_system_calls = true};
constexpr WorkerLimits kFiles{.restrict_file_access = true};
constexpr WorkerLimits kBoth{.filter_system_calls = true, .restrict_file_access = true};

struct Action {
  const char* name;
  std::function<int()> act;
};

TEST_F(ConfinementTest, ForbiddenSystemCallsKillTheProcess) {
  if (!has(kCalls)) GTEST_SKIP() << "system call filters are not supported here";
  const pid_t parent = ::getpid();
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::string path = outside();
  const std::vector<Action> actions{
      {"fork", [] { return done(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }},
      {"vfork", [] { return done(::syscall(SYS_vfork)); }},
      {"thread",
       [] {
         pthread_t thread{};
         return done(-::pthread_create(
             &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr));
       }},
      {"execute", [] { return done(::execl("/bin/true", "true", nullptr)); }},
      {"socket", [] { return done(::socket(AF_INET, SOCK_STREAM, 0)); }},
      {"unix socket", [] { return done(::socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"create a file", [&] { return opens(path + ".new", O_WRONLY | O_CREAT); }},
      {"write a file", [&] { return opens(path, O_RDWR); }},
      {"truncate a file", [&] { return opens(path, O_RDONLY | O_TRUNC); }},
      {"remove a file", [&] { return done(::unlink(path.c_str())); }},
      {"rename a file", [&] { return done(::rename(path.c_str(), (path + "2").c_str())); }},
      {"create a directory", [&] { return done(::mkdir((path + ".d").c_str(), 0700)); }},
      {"create a file in memory", [] { return done(::memfd_create("more", 0)); }},
      {"kill the parent", [=] { return done(::kill(parent, SIGTERM)); }},
      {"stop itself", [] { return done(::raise(SIGSTOP)); }},
      {"trace the parent", [=] { return done(::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr)); }},
      {"read the parent's memory",
       [=] {
         char byte = 0;
         const iovec here{&byte, 1};
         const iovec there{page, 1};
         return done(::process_vm_readv(parent, &here, 1, &there, 1, 0));
       }},
      {"change its priority", [] { return done(::setpriority(PRIO_PROCESS, 0, 5)); }},
      {"change the parent's limits",
       [=] {
         const rlimit none{0, 0};
         return done(::prlimit(parent, RLIMIT_CPU, &none, nullptr));
       }},
      {"close its socket", [] { return done(::close(kControlSocketFd)); }},
      {"write to its socket", [] { return done(::write(kControlSocketFd, "x", 1)); }},
      {"leave its group", [] { return done(::setsid()); }},
      {"make data executable", [=] { return done(::mprotect(page, 4096, PROT_READ | PROT_EXEC)); }},
  };
  for (const Action& action : actions) {
    SCOPED_TRACE(action.name);
    EXPECT_EXIT(act(kCalls, action.act), ::testing::KilledBySignal(SIGSYS), "");
  }
  EXPECT_TRUE(std::filesystem::exists(outside()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2) << "a file was created";
  ::munmap(page, 4096);
}

TEST_F(ConfinementTest, InstallingASignalHandlerKillsTheProcess) {
  if (!has(kCalls)) GTEST_SKIP() << "system call filters are not supported here";
  EXPECT_EXIT(act(kCalls, [] { return std::signal(SIGSEGV, SIG_IGN) == SIG_ERR ? errno : kDone; }),
              ::testing::KilledBySignal(SIGSYS), "");
}

TEST_F(ConfinementTest, AllowsSystemCallsThatCompiledKernelsNeed) {
  if (!has(kBoth)) GTEST_SKIP() << "confinement is only partly supported here";
  const std::vector<Action> actions{
      {"allocate",
       [] {
         for (std::size_t size = 16; size < (std::size_t{64} << 20); size *= 4) {
           void* volatile block = std::malloc(size);
           if (block == nullptr) return 1;
           std::free(block);
         }
         return kDone;
       }},
      {"print", [] { return done(::write(STDERR_FILENO, "printed\n", 8)); }},
      {"load a system library", [] { return ::dlopen("libm.so.6", RTLD_NOW) != nullptr ? kDone : 1; }},
      {"read another file in the code folder", [this] { return opens(inside(), O_RDONLY); }},
      {"sleep", [] { return done(::usleep(1)); }},
      {"end itself", [] { return ::raise(SIGCONT) == 0 ? kDone : 1; }},
  };
  for (const Action& action : actions) {
    SCOPED_TRACE(action.name);
    EXPECT_EXIT(act(kBoth, action.act), ::testing::ExitedWithCode(kDone), "");
  }
  EXPECT_EXIT(act(kBoth,
                  [] {
                    std::abort();
                    return 0;
                  }),
              ::testing::KilledBySignal(SIGABRT), "");
}

TEST_F(ConfinementTest, LandlockDeniesAllFileAccessExceptReadingKernelFiles) {
  if (!has(kFiles)) GTEST_SKIP() << "Landlock is not supported here";
  EXPECT_EXIT(act(kFiles, [this] { return opens(inside(), O_RDONLY); }), ::testing::ExitedWithCode(kDone), "");
  if (!kIsSanitizerBuild) {
    EXPECT_EXIT(act(kFiles, [this] { return opens(outside(), O_RDONLY); }), ::testing::ExitedWithCode(EACCES), "");
    EXPECT_EXIT(act(kFiles, [] { return opens("/proc/self/maps", O_RDONLY); }), ::testing::ExitedWithCode(EACCES), "");
  }
  for (const std::string& path : {inside(), outside(), inside() + ".new"}) {
    SCOPED_TRACE(path);
    EXPECT_EXIT(act(kFiles, [&] { return opens(path, O_WRONLY | O_CREAT); }), ::testing::ExitedWithCode(EACCES), "");
  }
  EXPECT_EXIT(act(kFiles, [this] { return done(::unlink(outside().c_str())); }), ::testing::ExitedWithCode(EACCES), "");
}

TEST_F(ConfinementTest, LandlockBlocksNetworkAndSignalsOnNewLinuxVersions) {
  if (!has(kFiles)) GTEST_SKIP() << "Landlock is not supported here";
  const pid_t parent = ::getpid();
  const auto try_signal = [&] {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const Confinement confinement = confine(kFiles, folder_.c_str());
    ::_exit(confinement.landlock_version < kMinLandlockVersionForSignals ? EPERM : done(::kill(parent, 0)));
  };
  EXPECT_EXIT(try_signal(), ::testing::ExitedWithCode(EPERM), "");
  const auto try_connecting = [&] {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const Confinement confinement = confine(kFiles, folder_.c_str());
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 1, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const int result = done(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
    ::_exit(confinement.landlock_version < kMinLandlockVersionForNetwork ? EACCES : result);
  };
  EXPECT_EXIT(try_connecting(), ::testing::ExitedWithCode(EACCES), "");
}

TEST_F(ConfinementTest, DoesNotRestrictProcessUnlessRequested) {
  EXPECT_EXIT(act({}, [this] { return opens(outside() + ".new", O_WRONLY | O_CREAT); }),
              ::testing::ExitedWithCode(kDone), "");
}

TEST(DescribeConfinement, ListsActiveAndMissingRestrictions) {
  EXPECT_EQ(describe({}), "the process is limited only in time, memory and file size");
  EXPECT_EQ(describe({.system_call_filter_error = 0, .file_restriction_error = 0, .landlock_version = 7}),
            "system calls are filtered; files, network and signals are limited by Landlock 7");
  EXPECT_EQ(describe({.system_call_filter_error = 0, .file_restriction_error = 0, .landlock_version = 2}),
            "system calls are filtered; files are limited by Landlock 2");
  EXPECT_EQ(describe({.system_call_filter_error = ENOSYS, .file_restriction_error = EOPNOTSUPP}),
            "system calls are not filtered (Function not implemented); access to files is not limited (Landlock: "
            "Operation not supported)");
  EXPECT_EQ(describe({.system_call_filter_error = 0, .file_restriction_error = Confinement::kNotRequested}),
            "system calls are filtered; access to files is not limited (Landlock: disabled)");
}

}  // namespace
}  // namespace assay::worker
