#include "harness/attacks/surroundings.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::attacks {

namespace fs = std::filesystem;

namespace {

constexpr const char* kBystander = "bystander";
constexpr const char* kContent = "this file must not change\n";
/// Larger than the number of connections of one attack: with a full queue, connect() would wait and time out.
constexpr int kConnections = 1024;
constexpr fs::perms kOwn = fs::perms::owner_all;

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

/// The processes whose parent is this one.
std::vector<pid_t> children() {
  std::vector<pid_t> result;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    // "12 (name, which may contain anything) S 1 ...": the parent is the second word after the last parenthesis.
    std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string state;
    pid_t parent = 0;
    if (rest >> state >> parent && parent == ::getpid()) result.push_back(static_cast<pid_t>(std::stoi(name)));
  }
  return result;
}

template <typename Address>
const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Result<std::unique_ptr<ProtectedEnvironment>> ProtectedEnvironment::prepare() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error) / "assay-attacks";
  auto scratch = backends::ScratchDirectory::create(parent);
  if (!scratch.ok()) return scratch.error();
  std::unique_ptr<ProtectedEnvironment> surroundings(new ProtectedEnvironment(scratch.take()));
  if (!surroundings->listen()) {
    return Error{"cannot listen on a port of 127.0.0.1: " + std::system_category().message(errno)};
  }
  surroundings->initial_descriptor_count_ = open_descriptors();
  surroundings->initial_children_ = children();
  return surroundings;
}

ProtectedEnvironment::ProtectedEnvironment(backends::ScratchDirectory scratch)
    : scratch_directory_(std::move(scratch)),
      protected_folder_(scratch_directory_.path() / "bystanders"),
      run_folder_(scratch_directory_.path() / "run"),
      initial_state_{.priority = ::getpriority(PRIO_PROCESS, 0),
                     .process_group = ::getpgrp(),
                     .working_directory = fs::current_path()} {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource)
    ::getrlimit(static_cast<__rlimit_resource>(resource), &initial_state_.limits[static_cast<std::size_t>(resource)]);
  fs::create_directory(run_folder_);
  restore_files();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

ProtectedEnvironment::~ProtectedEnvironment() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  for (const int socket : {stream_socket_, datagram_socket_}) {
    if (socket >= 0) ::close(socket);
  }
  std::error_code ignored;
  const fs::path parent = scratch_directory_.path().parent_path();
  { const backends::ScratchDirectory gone = std::move(scratch_directory_); }
  fs::remove(parent, ignored);  // fails if another run uses it
}

bool ProtectedEnvironment::listen() {
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  stream_socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  datagram_socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (::bind(stream_socket_, generic(address), size) != 0 || ::listen(stream_socket_, kConnections) != 0) return false;
  if (::getsockname(stream_socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  port_ = ntohs(address.sin_port);
  return ::bind(datagram_socket_, generic(address), size) == 0;
}

void ProtectedEnvironment::restore_files() const {
  std::error_code ignored;
  fs::permissions(protected_folder_, kOwn, ignored);
  fs::remove_all(protected_folder_, ignored);
  fs::create_directory(protected_folder_);
  fs::permissions(protected_folder_, kOwn);
  std::ofstream(protected_folder_ / kBystander) << kContent;
}

std::string ProtectedEnvironment::damage_to_files() const {
  std::error_code error;
  if (fs::status(protected_folder_, error).permissions() != kOwn)
    return "the permissions of a folder outside the run were changed";
  std::ifstream file(protected_folder_ / kBystander);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open()) return "a file outside the run was removed";
  if (content != kContent) return "a file outside the run was changed";
  if (std::distance(fs::directory_iterator(protected_folder_), {}) != 1)
    return "a file or folder was created in a folder outside the run";
  return "";
}

/// Accepts all pending connections and returns their number.
int ProtectedEnvironment::connections() const {
  int taken = 0;
  for (int connection = 0; (connection = ::accept(stream_socket_, nullptr, nullptr)) >= 0; ++taken)
    ::close(connection);
  return taken;
}

int ProtectedEnvironment::datagrams() const {
  int taken = 0;
  for (char byte = 0; ::recv(datagram_socket_, &byte, 1, 0) >= 0;)
    ++taken;
  return taken;
}

std::vector<std::string> ProtectedEnvironment::find_damage() {
  std::vector<std::string> damage;
  if (std::string found = damage_to_files(); !found.empty()) {
    damage.push_back(std::move(found));
    restore_files();
  }
  if (connections() > 0) damage.emplace_back("a connection was made to a port of this machine");
  if (datagrams() > 0) damage.emplace_back("a datagram was sent to a port of this machine");
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    const auto which = static_cast<__rlimit_resource>(resource);
    const rlimit& before = initial_state_.limits[static_cast<std::size_t>(resource)];
    rlimit now{};
    if (::getrlimit(which, &now) != 0 || (now.rlim_cur == before.rlim_cur && now.rlim_max == before.rlim_max)) continue;
    damage.push_back(fmt::format("resource limit {} of the judge was changed", resource));
    ::setrlimit(which, &before);
  }
  if (::getpriority(PRIO_PROCESS, 0) != initial_state_.priority) {
    damage.emplace_back("the priority of the judge was changed");
    ::setpriority(PRIO_PROCESS, 0, initial_state_.priority);
  }
  if (::getpgrp() != initial_state_.process_group || fs::current_path() != initial_state_.working_directory) {
    damage.emplace_back("the process group or working directory of the judge was changed");
  }
  return damage;
}

std::vector<std::string> ProtectedEnvironment::leftover_resources() {
  std::vector<std::string> left;
  for (const pid_t child : children()) {
    if (std::ranges::find(initial_children_, child) != initial_children_.end()) continue;
    left.push_back(fmt::format("process {} outlived its worker", child));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  if (const std::size_t now = open_descriptors(); now != initial_descriptor_count_) {
    left.push_back(
        fmt::format("{} file descriptors are open, {} were open before the run", now, initial_descriptor_count_));
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(run_folder_)) {
    if (!entry.is_directory()) left.push_back(entry.path().string() + " still exists after the attack");
  }
  return left;
}

}  // namespace assay::attacks
