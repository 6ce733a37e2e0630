// Shares the test plans of kernels that several groups of a run judge, such as the sample that is also judged at -O2.
// Private to run.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// Maximum number of test plans kept at the same time. A test plan takes a few megabytes, most of them for the large
/// launch.
inline constexpr std::size_t kMaxCachedTestPlans = 64;

/// The test plans of a run. A plan is drawn once for all groups that need it.
class SharedTestPlans {
 public:
  /// The groups may differ only in modes, passes and kernels.
  explicit SharedTestPlans(const std::vector<KernelGroup>& groups);

  /// A kernel's test plan: that of an earlier group, or else the result of `draw`, kept while later groups need it.
  /// Thread-safe.
  std::shared_ptr<const DrawnTestPlan> get_or_draw_test_plan(const KernelSource& source, const RunOptions& options,
                                                             const std::function<DrawnTestPlan()>& draw);

 private:
  /// Everything that a test plan depends on within one run: the kernel, whether it has gradients, and whether the mode
  /// flushes subnormals.
  using Key = std::tuple<const ir::Module*, std::size_t, bool, bool>;
  /// A test plan that several groups need.
  struct SharedPlan {
    int remaining_group_count = 0;                             ///< number of groups that still need the plan
    std::shared_ptr<const DrawnTestPlan> test_plan = nullptr;  ///< null until it is drawn, or if it is not kept
  };
  static Key key_of(const KernelSource& source, const RunOptions& options);

  std::mutex mutex_;                        ///< guards all other members
  std::map<Key, SharedPlan> shared_plans_;  ///< the plans, and how many groups still need them
  std::size_t stored_plan_count_ = 0;       ///< number of drawn plans in `shared_plans_`
};

}  // namespace assay::harness
