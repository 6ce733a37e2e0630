// The fake GPU: host memory, and PTX executed by the interpreter of backends/ptx.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/driver/symbols.hpp"
#include "backends/ptx/execute/machine.hpp"

namespace assay::cuda::fake {

/// The number of driver objects of each kind that exist.
struct LiveObjectCounts {
  int contexts = 0;     ///< number of existing contexts
  int modules = 0;      ///< number of loaded modules
  int streams = 0;      ///< number of existing streams
  int events = 0;       ///< number of existing events
  int allocations = 0;  ///< number of memory blocks that are not freed
  [[nodiscard]] int total() const { return contexts + modules + streams + events + allocations; }
};

/// A GPU in host memory. Each function implements the driver call of the same name and returns its result. All work is
/// synchronous. As on a GPU, a kernel failure is reported by the next call that waits, and by all later calls.
class FakeGpu {
 public:
  /// `shuffles_threads`: each launch runs its threads in another order.
  FakeGpu(std::size_t memory_bytes, bool shuffles_threads)
      : memory_bytes_(memory_bytes), shuffles_threads_(shuffles_threads) {}

  CUresult load_module(const std::string& image, CUmodule* module);
  CUresult unload_module(CUmodule module);
  CUresult get_function(CUmodule module, const char* name, CUfunction* function);
  CUresult parameter(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) const;
  CUresult launch(CUfunction function, ptx::LaunchGeometry geometry, void** arguments);

  CUresult allocate(std::size_t bytes, CUdeviceptr* address);
  CUresult free(CUdeviceptr address);
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }
  /// The host memory of `bytes` bytes at the device address; null if they are not GPU memory.
  std::byte* host(CUdeviceptr address, std::size_t bytes);

  CUstream make_stream() { return ++live_object_counts_.streams, reinterpret_cast<CUstream>(++last_stream_number_); }
  void end_stream() { --live_object_counts_.streams; }
  CUevent make_event();
  CUresult end_event(CUevent event);
  CUresult record(CUevent event);
  CUresult elapsed(CUevent start, CUevent end, float* milliseconds) const;

  void count_context(int change) { live_object_counts_.contexts += change; }
  [[nodiscard]] const LiveObjectCounts& live() const { return live_object_counts_; }
  /// Waits for all launches, after which their failure is known.
  CUresult wait() { return reported_failure_ = kernel_failure_; }
  [[nodiscard]] CUresult reported_failure() const { return reported_failure_; }
  void fail(CUresult failure) { reported_failure_ = kernel_failure_ = failure; }

 private:
  using Clock = std::chrono::steady_clock;
  /// A loaded module.
  struct Module {
    std::shared_ptr<const ptx::Module> parsed_module;                   ///< the parsed PTX of the module
    std::map<std::string, std::shared_ptr<const ptx::Kernel>> kernels;  ///< its lowered kernels, by name
  };

  [[nodiscard]] static CUdeviceptr base_of(std::size_t slot);  ///< start of an allocation

  std::size_t memory_bytes_;        ///< size of the GPU memory
  bool shuffles_threads_;           ///< whether each launch runs its threads in another order
  std::uint64_t launch_count_ = 0;  ///< number of launches so far
  std::size_t used_bytes_ = 0;      ///< total size of the memory blocks that are not freed
  ptx::Machine machine_;            ///< interpreter that executes the kernels
  /// Memory blocks in order of allocation; nullopt: freed.
  std::vector<std::optional<std::vector<std::byte>>> allocations_;
  std::map<CUmodule, std::unique_ptr<Module>> modules_;  ///< loaded modules, by handle
  /// Time at which each event was recorded; nullopt: not recorded.
  std::map<CUevent, std::optional<Clock::time_point>> event_times_;
  std::uintptr_t last_stream_number_ = 0;   ///< number of the stream created last, which is its handle
  std::uintptr_t last_event_number_ = 0;    ///< number of the event created last, which is its handle
  LiveObjectCounts live_object_counts_;     ///< number of existing driver objects of each kind
  CUresult kernel_failure_ = CUDA_SUCCESS;  ///< error code of the first failed kernel; CUDA_SUCCESS: none failed
  /// The same error code once a call has waited for the kernel; all later calls return it.
  CUresult reported_failure_ = CUDA_SUCCESS;
};

}  // namespace assay::cuda::fake
