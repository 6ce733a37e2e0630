// The state of the process that the functions of libcuda and CUPTI share. Start reading at call(), which every function
// uses.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/fake_driver/gpu.hpp"
#include "backends/cuda/fake_driver/plan.hpp"

namespace assay::cuda::fake {

/// One activity record, as CUPTI reports it.
struct RecordedActivity {
  enum class Kind : std::uint8_t { kKernel, kCopy, kLaunchCall };
  Kind kind = Kind::kKernel;  ///< kind of the activity
  std::uint64_t start = 0;    ///< start time by the CPU's clock, in nanoseconds
  std::uint64_t end = 0;      ///< end time by the CPU's clock, in nanoseconds
  std::uint64_t bytes = 0;    ///< size of a copy; 0 for other kinds
};

/// The state of the fake driver in this process; get() returns the only instance.
class FakeDriverState {
 public:
  /// Creates the state with the plan of $ASSAY_FAKE_GPU on first use.
  static FakeDriverState& get();

  /// Resets all state and applies the plan; returns false if the plan is invalid.
  bool reset(const char* text);

  [[nodiscard]] const DriverScript& plan() const { return script_; }
  [[nodiscard]] FakeGpu& gpu() { return *gpu_; }

  /// Performs the planned action for this call, by default `work`, unless a kernel has failed.
  template <typename Work>
  CUresult call(const char* name, const Work& work) {
    const std::lock_guard lock(mutex_);
    const ScriptedAction scripted_action = script_.next(name);
    if (const CUresult result = run_planned_action(scripted_action); result != CUDA_SUCCESS) return result;
    return gpu_->reported_failure() != CUDA_SUCCESS ? gpu_->reported_failure() : work(*gpu_);
  }

  /// Does the work and records it as an activity; for a launch, also records the call.
  template <typename Work>
  CUresult run_and_record(RecordedActivity::Kind kind, std::uint64_t bytes, const Work& work) {
    const std::uint64_t start = now();
    const CUresult result = work();
    const std::uint64_t end = now();
    if (result == CUDA_SUCCESS) record_activity({kind, start, end, bytes});
    if (kind == RecordedActivity::Kind::kKernel) record_activity({RecordedActivity::Kind::kLaunchCall, start, end, 0});
    return result;
  }

  /// Switches recording of a kind on or off. The others return the activities recorded and the number dropped because
  /// of the plan's limit since the last call.
  void record(RecordedActivity::Kind kind, bool on) { recorded_[static_cast<std::size_t>(kind)] = on; }
  std::vector<RecordedActivity> take_activities() { return std::exchange(activities_, {}); }
  std::size_t take_dropped() { return std::exchange(dropped_records_, 0); }

 private:
  FakeDriverState();
  static std::uint64_t now();
  CUresult run_planned_action(const ScriptedAction& scripted_action);
  CUresult failed(CUresult result);
  void record_activity(const RecordedActivity& activity);

  std::mutex mutex_;                          ///< guards all other members
  DriverScript script_;                       ///< the properties and failures that $ASSAY_FAKE_GPU specifies
  std::unique_ptr<FakeGpu> gpu_;              ///< the GPU, which holds the state of the driver's objects
  bool recorded_[3] = {};                     ///< whether activities are recorded, by RecordedActivity::Kind
  std::vector<RecordedActivity> activities_;  ///< recorded activities that have not been delivered to a caller
  /// Number of activities that were dropped since the last take_dropped(), because of the limit `records`.
  std::size_t dropped_records_ = 0;
};

}  // namespace assay::cuda::fake
