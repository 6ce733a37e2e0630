#include "backends/cpu/worker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/backend.hpp"
#include "backends/cpu/worker_limits.hpp"
#include "backends/cpu/worker_protocol.hpp"
#include "ir/support/rng.hpp"

namespace assay::cpu {

namespace {

using backends::ThreadOrder;

constexpr int kControlFd = 3;
constexpr int kMemoryFd = 4;
constexpr int kSetupFailed = 70;
/// Inaccessible address space on both sides of the buffers: a kernel that strays far dies instead of hitting something.
constexpr std::size_t kGuardBytes = std::size_t{64} << 20;

using EntryFunction = void (*)(void* const* arguments, long long begin, long long end);

struct Entry {
  EntryFunction function = nullptr;
  const unsigned long long* sizes = nullptr;  ///< the parameters' number, then the size of each
};

/// The three parts of the shared memory, as this process sees them.
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
  memory.control = map_part<ControlBlock>(fd, 0, kCommandsAt, PROT_READ | PROT_WRITE);
  memory.commands = map_part<const std::byte>(fd, kCommandsAt, kCommandBytes, PROT_READ);
  if (memory.control != nullptr) {
    memory.buffers = map_between_guards(fd, kBuffersAt, memory.control->buffer_bytes);
  }
  return memory;
}

/// Reads one record; its pieces are views into the commands.
class RecordReader {
 public:
  explicit RecordReader(const std::byte* base) : base_(base) { std::memcpy(&record_, base, sizeof(record_)); }

  [[nodiscard]] const LaunchRecord& record() const { return record_; }
  [[nodiscard]] const char* library() const { return at<char>(record_.library_at); }
  [[nodiscard]] const char* symbol() const { return at<char>(record_.symbol_at); }
  [[nodiscard]] bool loads_only() const { return record_.symbol_at == 0; }
  [[nodiscard]] const std::byte* blob() const { return at<std::byte>(record_.blob_at); }
  [[nodiscard]] std::span<const ArgumentRow> arguments() const {
    return {at<ArgumentRow>(record_.arguments_at), record_.argument_count};
  }
  [[nodiscard]] std::span<const PointerRow> pointers() const {
    return {at<PointerRow>(record_.pointers_at), record_.pointer_count};
  }

 private:
  template <typename T>
  [[nodiscard]] const T* at(std::uint32_t position) const {
    return reinterpret_cast<const T*>(base_ + position);
  }

  const std::byte* base_;
  LaunchRecord record_{};
};

/// Loads each library and looks each symbol up once. Failures leave their reason in `message`.
class Library {
 public:
  bool load(const std::string& path, std::string& message) {
    if (handles_.contains(path)) {
      return true;
    }
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      message = std::string("cannot load the built library: ") + ::dlerror();
      return false;
    }
    handles_.emplace(path, handle);
    return true;
  }

  const Entry* find(const std::string& path, const std::string& symbol, std::string& message) {
    key_.assign(path).append(1, '\n').append(symbol);
    if (const auto known = entries_.find(key_); known != entries_.end()) {
      return &known->second;
    }
    if (!load(path, message)) {
      return nullptr;
    }
    void* const handle = handles_.at(path);
    const Entry entry{reinterpret_cast<EntryFunction>(::dlsym(handle, symbol.c_str())),
                      static_cast<const unsigned long long*>(::dlsym(handle, (symbol + "_sizes").c_str()))};
    if (entry.function == nullptr || entry.sizes == nullptr) {
      message = "the built library has no entry '" + symbol + "'";
      return nullptr;
    }
    return &entries_.emplace(key_, entry).first->second;
  }

 private:
  std::unordered_map<std::string, void*> handles_;
  std::unordered_map<std::string, Entry> entries_;
  std::string key_;
};

/// The reason why the arguments do not fit the parameters; empty when they do.
std::string mismatch(const Entry& entry, std::span<const ArgumentRow> arguments) {
  if (entry.sizes[0] != arguments.size()) {
    return std::to_string(arguments.size()) + " arguments given, the entry takes " + std::to_string(entry.sizes[0]);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (entry.sizes[i + 1] != arguments[i].size) {
      return "argument " + std::to_string(i) + " has " + std::to_string(arguments[i].size) + " bytes, its parameter " +
             std::to_string(entry.sizes[i + 1]);
    }
  }
  return {};
}

class Worker {
 public:
  explicit Worker(Memory memory) : memory_(memory) {}

  /// Runs the commands; ends early at a launch that it refuses.
  void run_commands() {
    CommandHeader header{};
    std::memcpy(&header, memory_.commands, sizeof(header));
    allow_processor_seconds(header.processor_seconds);
    const std::byte* at = memory_.commands + round_up(sizeof(header), 16);
    for (std::uint32_t i = 0; i < header.count; ++i) {
      const RecordReader reader(at);
      at += reader.record().size;
      ProgressRow& row = memory_.control->rows[i];
      row.progress.store(Progress::kStarted, std::memory_order_release);
      if (!run(reader, row)) {
        row.progress.store(Progress::kRefused, std::memory_order_release);
        return;
      }
      row.progress.store(Progress::kCompleted, std::memory_order_release);
    }
  }

 private:
  bool run(const RecordReader& reader, ProgressRow& row) {
    std::string message;
    if (reader.loads_only()) {
      return library_.load(reader.library(), message) || refuse(message);
    }
    const Entry* const entry = library_.find(reader.library(), reader.symbol(), message);
    if (entry == nullptr) {
      return refuse(message);
    }
    if (message = mismatch(*entry, reader.arguments()); !message.empty()) {
      return refuse(message);
    }
    place_arguments(reader);
    const auto start = std::chrono::steady_clock::now();
    visit_blocks(reader.record(), entry->function);
    row.nanoseconds = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    return true;
  }

  bool refuse(const std::string& message) {
    const std::size_t size = std::min(message.size(), kMessageBytes - 1);
    std::memcpy(memory_.control->message, message.data(), size);
    memory_.control->message[size] = '\0';
    return false;
  }

  /// Copies the arguments to where they may be changed, and turns offsets into addresses.
  void place_arguments(const RecordReader& reader) {
    scratch_.resize(reader.record().blob_bytes / sizeof(Cell) + 1);
    std::byte* const blob = scratch_.front().bytes;
    std::memcpy(blob, reader.blob(), reader.record().blob_bytes);
    for (const PointerRow& pointer : reader.pointers()) {
      const std::byte* const address = memory_.buffers + pointer.buffer_offset;
      std::memcpy(blob + pointer.at, &address, sizeof(address));
    }
    arguments_.clear();
    for (const ArgumentRow& argument : reader.arguments()) {
      arguments_.push_back(blob + argument.at);
    }
  }

  void visit_blocks(const LaunchRecord& record, EntryFunction function) {
    const std::int64_t threads = std::max<std::int64_t>(record.threads, 0);
    const std::int64_t block = record.block > 0 ? record.block : std::max<std::int64_t>(threads, 1);
    // A launch without threads is still made: the entry must leave everything as it is.
    const std::int64_t blocks = std::max<std::int64_t>((threads + block - 1) / block, 1);
    const auto visit = [&](std::int64_t index) {
      function(arguments_.data(), index * block, std::min((index + 1) * block, threads));
    };
    switch (static_cast<ThreadOrder>(record.order)) {
      case ThreadOrder::kForward:
        for (std::int64_t i = 0; i < blocks; ++i)
          visit(i);
        break;
      case ThreadOrder::kReverse:
        for (std::int64_t i = blocks; i-- > 0;)
          visit(i);
        break;
      case ThreadOrder::kShuffled:
        shuffled_.resize(static_cast<std::size_t>(blocks));
        std::iota(shuffled_.begin(), shuffled_.end(), std::int64_t{0});
        Rng(record.shuffle_seed).shuffle(shuffled_);
        std::for_each(shuffled_.begin(), shuffled_.end(), visit);
        break;
    }
  }

  /// Keeps the arguments aligned for any type.
  struct alignas(64) Cell {
    std::byte bytes[64];
  };

  Memory memory_;
  Library library_;
  std::vector<Cell> scratch_;
  std::vector<void*> arguments_;
  std::vector<std::int64_t> shuffled_;
};

bool send_byte(int fd) {
  const char byte = 1;
  return ::send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
}

/// False when the parent has closed its end.
bool receive_byte(int fd) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::recv(fd, &byte, 1, 0);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

}  // namespace

int worker_main(int control_fd, int memory_fd) {
  const Memory memory = map_memory(memory_fd);
  if (!memory.mapped()) {
    std::perror("assay worker: cannot map the shared memory");
    return kSetupFailed;
  }
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // what was printed before a crash must not be lost with it
  give_up_what_kernels_do_not_need(static_cast<unsigned>(std::max(control_fd, memory_fd)) + 1,
                                   memory.control->process_bytes);
  Worker worker(memory);
  bool served = send_byte(control_fd);
  while (served && receive_byte(control_fd)) {
    worker.run_commands();
    served = send_byte(control_fd);
  }
  // Not exit(): what a generated library registered to run at exit is no longer anyone's business.
  std::_Exit(0);
}

std::optional<int> run_if_worker(int argc, const char* const* argv) {
  if (argc != 2 || std::string_view(argv[1]) != kWorkerArgument) {
    return std::nullopt;
  }
  return worker_main(kControlFd, kMemoryFd);
}

}  // namespace assay::cpu
