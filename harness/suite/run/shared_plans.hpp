// Exams of kernels that more than one group of a run judges, as those of the sample that is judged at -O2 too. Private
// to run.
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

class SharedTestPlans {
 public:
  /// Of groups that differ in their modes, passes and kernels alone.
  explicit SharedTestPlans(const std::vector<Group>& groups);

  /// A kernel's exam: that of a group before, or else what `draw` gives, kept while groups are to come that need it.
  /// From any thread.
  std::shared_ptr<const DrawnTestPlan> of(const KernelSource& source, const RunOptions& options,
                                          const std::function<DrawnTestPlan()>& draw);

 private:
  /// What an exam depends on, among the kernels of one run: kernel, whether it has gradients, whether the mode flushes
  /// subnormals.
  using Key = std::tuple<const ir::Module*, std::size_t, bool, bool>;
  struct Entry {
    int takers = 0;  ///< groups that have yet to ask
    std::shared_ptr<const DrawnTestPlan> test_plan = nullptr;
  };
  static Key key_of(const KernelSource& source, const RunOptions& options);

  std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::size_t kept_ = 0;
};

}  // namespace assay::harness
