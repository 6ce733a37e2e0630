#include "harness/suite/run/shared_plans.hpp"

namespace assay::harness {

SharedTestPlans::SharedTestPlans(const std::vector<KernelGroup>& groups) {
  for (const KernelGroup& group : groups) {
    for (const KernelSource& source : group.sources)
      ++shared_plans_[key_of(source, group.options)].remaining_group_count;
  }
}

SharedTestPlans::Key SharedTestPlans::key_of(const KernelSource& source, const RunOptions& options) {
  return {source.module.get(), source.kernel_index, options.backward, options.mode.flags.flushes_subnormals};
}

std::shared_ptr<const DrawnTestPlan> SharedTestPlans::get_or_draw_test_plan(
    const KernelSource& source, const RunOptions& options, const std::function<DrawnTestPlan()>& draw) {
  const Key key = key_of(source, options);
  {
    const std::lock_guard lock(mutex_);
    SharedPlan& entry = shared_plans_[key];
    --entry.remaining_group_count;
    if (entry.test_plan != nullptr && entry.remaining_group_count <= 0) --stored_plan_count_;
    if (entry.test_plan != nullptr)
      return entry.remaining_group_count > 0 ? entry.test_plan : std::move(entry.test_plan);
  }
  auto test_plan = std::make_shared<const DrawnTestPlan>(draw());
  const std::lock_guard lock(mutex_);
  SharedPlan& entry = shared_plans_[key];
  if (entry.remaining_group_count > 0 && entry.test_plan == nullptr && stored_plan_count_ < kMaxCachedTestPlans) {
    entry.test_plan = test_plan;
    ++stored_plan_count_;
  }
  return test_plan;
}

}  // namespace assay::harness
