#include "backends/cpu/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>

#include "backends/device/backend.hpp"
#include "backends/worker/placed_arguments.hpp"
#include "backends/worker/serve.hpp"
#include "support/rng.hpp"

namespace assay::cpu {

namespace {

using backends::ThreadOrder;
using worker::ArgumentLocation;
using worker::LaunchRecord;
using worker::LaunchRecordReader;
using worker::LaunchResult;

using EntryFunction = void (*)(void* const* arguments, long long begin, long long end);

struct Entry {
  EntryFunction function = nullptr;
  const unsigned long long* sizes = nullptr;  ///< the number of parameters, then the size of each
};

/// Loads each library and looks up each symbol once. Failures store their reason in `message`.
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
      message = "the built library has no entry point '" + symbol + "'";
      return nullptr;
    }
    return &entries_.emplace(key_, entry).first->second;
  }

 private:
  std::unordered_map<std::string, void*> handles_;
  std::unordered_map<std::string, Entry> entries_;
  std::string key_;
};

/// Why the arguments do not match the parameters; empty if they do.
std::string mismatch(const Entry& entry, std::span<const ArgumentLocation> arguments) {
  if (entry.sizes[0] != arguments.size()) {
    return "the kernel takes " + std::to_string(entry.sizes[0]) + " arguments, got " + std::to_string(arguments.size());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (entry.sizes[i + 1] != arguments[i].size) {
      return "argument " + std::to_string(i) + " must have " + std::to_string(entry.sizes[i + 1]) + " bytes, got " +
             std::to_string(arguments[i].size);
    }
  }
  return {};
}

LaunchResult rejected(std::string message) {
  return {.progress = worker::LaunchProgress::kRejected, .message = std::move(message)};
}

/// Calls entries of loaded libraries. The buffers are ordinary memory of this process.
class LibraryExecutor final : public worker::LaunchExecutor {
 public:
  explicit LibraryExecutor(std::span<std::byte> buffers) : buffers_(buffers.data()) {}

  LaunchResult run(const LaunchRecordReader& reader) override {
    std::string message;
    if (reader.loads_only()) {
      return library_.load(reader.code(), message) ? LaunchResult{} : rejected(message);
    }
    const Entry* const entry = library_.find(reader.code(), reader.symbol(), message);
    if (entry == nullptr) {
      return rejected(message);
    }
    if (message = mismatch(*entry, reader.arguments()); !message.empty()) {
      return rejected(message);
    }
    const std::span<void*> arguments = arguments_.place(reader, reinterpret_cast<std::uintptr_t>(buffers_)).subspan(1);
    const auto start = std::chrono::steady_clock::now();
    visit_blocks(reader, entry->function, arguments.data());
    return {.nanoseconds = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count()};
  }

 private:
  void visit_blocks(const LaunchRecordReader& reader, EntryFunction function, void* const* arguments) {
    const LaunchRecord& record = reader.record();
    const std::int64_t threads = std::max<std::int64_t>(record.threads, 0);
    const std::int64_t block =
        record.requested_block_threads > 0 ? record.requested_block_threads : std::max<std::int64_t>(threads, 1);
    // A launch without threads still calls the entry, which must then change nothing.
    const std::int64_t blocks = std::max<std::int64_t>((threads + block - 1) / block, 1);
    const auto visit = [&](std::int64_t index) {
      function(arguments, index * block, std::min((index + 1) * block, threads));
    };
    if (!reader.checked_threads().empty()) {
      for (const std::int64_t thread : reader.checked_threads())
        function(arguments, thread, thread + 1);
      return;
    }
    switch (static_cast<ThreadOrder>(record.thread_order)) {
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

  std::byte* buffers_;
  Library library_;
  worker::RelocatedArguments arguments_;
  std::vector<std::int64_t> shuffled_;
};

}  // namespace

std::optional<int> run_if_worker(int argc, const char* const* argv) {
  return worker::serve_if_worker(
      argc, argv, kWorkerRoleArgument, [](const worker::WorkerLimits&, std::span<std::byte> buffers) {
        return Result<std::unique_ptr<worker::LaunchExecutor>>(std::make_unique<LibraryExecutor>(buffers));
      });
}

}  // namespace assay::cpu
