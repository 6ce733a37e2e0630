// The one machine of the process, which the functions of libcuda and of CUPTI share. Start reading at call(), which
// each of them goes through.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/fake_driver/gpu.hpp"
#include "backends/cuda/fake_driver/plan.hpp"

namespace assay::cuda::fake {

/// One thing that was done while somebody had it recorded.
struct Activity {
  enum class Kind : std::uint8_t { kKernel, kCopy, kLaunchCall };
  Kind kind = Kind::kKernel;
  std::uint64_t start = 0;  ///< nanoseconds of the processor's clock
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;  ///< of a copy
};

class Process {
 public:
  /// Plans as $ASSAY_FAKE_GPU says.
  static Process& get();

  /// Forgets everything; false when the text is no plan.
  bool reset(const char* text);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Gpu& gpu() { return *gpu_; }

  /// Does what the plan says of this call; the work, unless that is something else or a kernel has failed.
  template <typename Work>
  CUresult call(const char* name, const Work& work) {
    const std::lock_guard lock(mutex_);
    const Step step = plan_.next(name);
    if (const CUresult result = instead_of_work(step); result != CUDA_SUCCESS) return result;
    return gpu_->known_failure() != CUDA_SUCCESS ? gpu_->known_failure() : work(*gpu_);
  }

  /// Does the work and notes it as done; of a launch also the call.
  template <typename Work>
  CUresult noted(Activity::Kind kind, std::uint64_t bytes, const Work& work) {
    const std::uint64_t start = now();
    const CUresult result = work();
    const std::uint64_t end = now();
    if (result == CUDA_SUCCESS) note({kind, start, end, bytes});
    if (kind == Activity::Kind::kKernel) note({Activity::Kind::kLaunchCall, start, end, 0});
    return result;
  }

  /// Which activities are noted; those that were, and how many were lost to the plan's bound since the last time.
  void record(Activity::Kind kind, bool on) { recorded_[static_cast<std::size_t>(kind)] = on; }
  std::vector<Activity> take_activities() { return std::exchange(activities_, {}); }
  std::size_t take_dropped() { return std::exchange(dropped_, 0); }

 private:
  Process();
  static std::uint64_t now();
  CUresult instead_of_work(const Step& step);
  CUresult failed(CUresult result);
  void note(const Activity& activity);

  std::mutex mutex_;
  Plan plan_;
  std::unique_ptr<Gpu> gpu_;
  bool recorded_[3] = {};
  std::vector<Activity> activities_;
  std::size_t dropped_ = 0;
};

}  // namespace assay::cuda::fake
