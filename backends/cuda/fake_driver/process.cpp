#include "backends/cuda/fake_driver/process.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace assay::cuda::fake {

FakeDriverState& FakeDriverState::get() {
  static FakeDriverState the_process;
  return the_process;
}

FakeDriverState::FakeDriverState() {
  const char* const text = std::getenv("ASSAY_FAKE_GPU");
  if (!reset(text == nullptr ? "" : text)) std::abort();
}

bool FakeDriverState::reset(const char* text) {
  Result<DriverScript> plan = DriverScript::parse(text);
  if (!plan) {
    std::fprintf(stderr, "fake driver: %s\n", plan.error().text().c_str());
    return false;
  }
  script_ = plan.take();
  gpu_ = std::make_unique<FakeGpu>(script_.memory_bytes(), script_.shuffles_threads());
  activities_.clear();
  dropped_records_ = 0;
  return true;
}

std::uint64_t FakeDriverState::now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

CUresult FakeDriverState::run_planned_action(const ScriptedAction& scripted_action) {
  switch (scripted_action.action) {
    case FakeCallAction::kSucceed: break;
    case FakeCallAction::kFail: return failed(scripted_action.result);
    case FakeCallAction::kLoseDevice: gpu_->fail(CUDA_ERROR_DEVICE_UNAVAILABLE); break;
    case FakeCallAction::kHang:
      for (;;)
        ::pause();
    case FakeCallAction::kKillProcess: std::raise(SIGKILL);
  }
  return CUDA_SUCCESS;
}

/// Results from 700 on are kernel failures, which are sticky.
CUresult FakeDriverState::failed(CUresult result) {
  const bool sticky = result >= CUDA_ERROR_ILLEGAL_ADDRESS && result <= CUDA_ERROR_LAUNCH_FAILED;
  if (sticky) gpu_->fail(result);
  return result;
}

void FakeDriverState::record_activity(const RecordedActivity& activity) {
  if (!recorded_[static_cast<std::size_t>(activity.kind)]) return;
  if (activities_.size() < script_.max_records()) activities_.push_back(activity);
  else ++dropped_records_;
}

}  // namespace assay::cuda::fake
