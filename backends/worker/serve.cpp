#include "backends/worker/serve.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/worker/confinement.hpp"
#include "backends/worker/limits.hpp"
#include "backends/worker/sanitized.hpp"

namespace assay::worker {

namespace {

constexpr int kSetupFailed = 70;
/// Inaccessible address space on both sides of the buffers, so that an access far outside crashes.
constexpr std::size_t kGuardBytes = std::size_t{64} << 20;

/// The three parts of the shared memory, as mapped in this process.
struct Memory {
  ControlBlock* control = nullptr;
  const std::byte* commands = nullptr;
  std::byte* buffers = nullptr;

  [[nodiscard]] bool mapped() const { return control != nullptr && commands != nullptr && buffers != nullptr; }
};

template <typename T>
T* map_part(int fd, std::size_t offset, std::size_t size, int protection) {
  void* const address = ::mmap(nullptr, size, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  return address == MAP_FAILED ? nullptr : static_cast<T*>(address);
}

std::byte* map_between_guards(int fd, std::size_t offset, std::size_t size) {
  void* const space =
      ::mmap(nullptr, size + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) {
    return nullptr;
  }
  std::byte* const address = static_cast<std::byte*>(space) + kGuardBytes;
  void* const mapped =
      ::mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : address;
}

Memory map_memory(int fd) {
  Memory memory;
  memory.control = map_part<ControlBlock>(fd, 0, kCommandsOffset, PROT_READ | PROT_WRITE);
  memory.commands = map_part<const std::byte>(fd, kCommandsOffset, kCommandAreaBytes, PROT_READ);
  if (memory.control != nullptr) {
    memory.buffers = map_between_guards(fd, kBuffersOffset, memory.control->worker_limits.buffer_bytes);
  }
  return memory;
}

template <std::size_t N>
void write_text(char (&place)[N], std::string_view text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(place, text.data(), size);
  place[size] = '\0';
}

void write_measured(MeasurementBlock& block, const LaunchMeasurements& measured) {
  block.count = 0;
  for (const auto& [name, value] : measured.measures) {
    if (block.count == kMaxMeasuredValues) break;
    MeasuredValue& row = block.rows[block.count++];
    write_text(row.name, name);
    row.value = value;
  }
  write_text(block.remark, measured.remark);
}

/// Runs the commands up to the first launch that does not complete. Returns false if the process can no longer be used.
bool run_commands(const Memory& memory, LaunchExecutor& executor) {
  CommandHeader header{};
  std::memcpy(&header, memory.commands, sizeof(header));
  allow_processor_seconds(header.cpu_time_limit_seconds);
  const std::byte* at = memory.commands + round_up(sizeof(header), 16);
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const LaunchRecordReader reader(at);
    at += reader.record().size;
    LaunchProgressEntry& row = memory.control->rows[i];
    row.progress.store(LaunchProgress::kStarted, std::memory_order_release);
    const LaunchResult end = executor.run(reader);
    row.nanoseconds = end.nanoseconds;
    if (end.measurements) write_measured(memory.control->measurements, *end.measurements);
    if (end.progress != LaunchProgress::kCompleted) write_text(memory.control->message, end.message);
    row.progress.store(end.progress, std::memory_order_release);
    if (end.progress != LaunchProgress::kCompleted) return end.process_is_usable;
  }
  return true;
}

bool send_byte(int fd) {
  const char byte = 1;
  return ::send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
}

/// Returns false if the parent has closed its end.
bool receive_byte(int fd) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::recv(fd, &byte, 1, 0);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

/// Otherwise a kernel that exits would make the sanitizer's run-time library start a leak-checking process.
void skip_leak_check_on_exit() {
  ::on_exit([](int status, void*) { ::_exit(status); }, nullptr);
}

int serve(const MakeExecutor& make_executor) {
  const Memory memory = map_memory(kSharedMemoryFd);
  if (!memory.mapped()) {
    std::perror("assay worker: cannot map the shared memory");
    return kSetupFailed;
  }
  ::close(kSharedMemoryFd);                  // otherwise a kernel could map the other parts
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // unbuffered, so that output before a crash is kept
  const WorkerLimits worker_limits = memory.control->worker_limits;
  drop_unneeded_privileges(kControlSocketFd + 1, worker_limits);
  if (kIsSanitizerBuild) skip_leak_check_on_exit();
  memory.control->confinement = confine(worker_limits, memory.control->code_folder);
  auto executor = make_executor(worker_limits, {memory.buffers, worker_limits.buffer_bytes});
  if (!executor) {
    write_text(memory.control->message, executor.error().text());
    return kSetupFailed;
  }
  bool served = send_byte(kControlSocketFd);
  while (served && receive_byte(kControlSocketFd)) {
    served = run_commands(memory, **executor) && send_byte(kControlSocketFd);
  }
  // Not exit(): exit handlers of generated libraries must not run.
  std::_Exit(0);
}

}  // namespace

std::optional<int> serve_if_worker(int argc, const char* const* argv, const char* role_argument,
                                   const MakeExecutor& make_executor) {
  if (argc != 2 || std::string_view(argv[1]) != role_argument) {
    return std::nullopt;
  }
  return serve(make_executor);
}

}  // namespace assay::worker
