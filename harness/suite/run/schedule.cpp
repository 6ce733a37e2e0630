#include "harness/suite/run/schedule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "harness/suite/run/batch.hpp"
#include "harness/suite/run/shared_plans.hpp"
#include "ir/launch.hpp"
#include "ir/visit.hpp"

namespace assay::harness {
namespace {

double scalars_computed(const ir::Module& module, const ir::Function& function) {
  double sum = 0;
  for (const ir::Expr& expression : function.expressions) {
    const ir::Type type = expression.type;
    sum += type.shape == ir::Shape::kStruct ? static_cast<double>(ir::scalar_components(module, type.element()).size())
                                            : static_cast<double>(type.components() * type.tile_size());
  }
  return sum;
}

/// Trips of all loops with constant bounds.
double stated_trips(const ir::Function& function) {
  const auto number = [&](ir::ExprId id) {
    const ir::Expr& expression = function.expr(id);
    return expression.kind == ir::ExprKind::kLiteral ? static_cast<double>(static_cast<std::int64_t>(expression.bits))
                                                     : 0;
  };
  double sum = 0;
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    const auto* loop = std::get_if<ir::For>(&statement.node);
    if (loop == nullptr || number(loop->step) == 0) return;
    sum += std::max(0.0, (number(loop->stop) - number(loop->start)) / number(loop->step));
  });
  return sum;
}

/// Cost of compiling at an optimization level, relative to -O0.
double compiling_at(int optimization) { return optimization > 1 ? 5 : (optimization == 1 ? 3 : 1); }

/// Number of leading sources, at most `size` and at least one, that together do not exceed the cost limit of a batch.
std::size_t affordable(std::span<const KernelSource> sources, std::size_t size, const RunOptions& options) {
  // A quarter of a minute: a batch shows no progress until its first kernel is judged, and if the run ends, all of it
  // is lost.
  constexpr double kMostCost = 50'000;
  double cost = 0;
  for (std::size_t i = 0; i < size; ++i) {
    cost += expected_cost(sources[i], options);
    if (cost > kMostCost) return std::max<std::size_t>(i, 1);
  }
  return size;
}

/// The groups, ordered by the cost of their kernels.
std::vector<const KernelGroup*> costliest_first(const std::vector<KernelGroup>& groups) {
  std::vector<const KernelGroup*> order;
  for (const KernelGroup& group : groups)
    order.push_back(&group);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const KernelGroup* group) { return group->options.mode.flags.optimization_level; });
  return order;
}

bool has_several_devices(const std::vector<KernelGroup>& groups) {
  return std::ranges::any_of(groups, [&](const KernelGroup& group) { return group.device != groups.front().device; });
}

/// The size of batches whose kernels are judged on several devices: the test plans of the batches in work are kept.
std::size_t shared_batch_size(std::size_t jobs) {
  return std::clamp<std::size_t>(kMaxCachedTestPlans / std::max<std::size_t>(jobs, 1), 4, 24);
}

/// Sorts the batches by their first kernel. Batches in work at the same time have different kernels: each draws test
/// plans, which the batches of the other devices use next.
void put_same_kernels_together(std::vector<Batch>& batches, std::size_t jobs) {
  std::map<std::pair<const ir::Module*, std::string>, std::size_t> positions;
  const auto position = [&](const Batch& batch) {
    const KernelSource& first = batch.sources.front();
    const std::pair key(first.module.get(), first.family + "/" + first.kernel);
    return positions.emplace(key, positions.size()).first->second / std::max<std::size_t>(jobs, 1);
  };
  for (const Batch& batch : batches)
    position(batch);
  std::ranges::stable_sort(batches, {}, position);
}

}  // namespace

double expected_cost(const KernelSource& source, const RunOptions& options) {
  if (source.module == nullptr) return 0;
  constexpr double kTrip = 1.0 / 12, kAllElse = 70;
  const ir::Module& module = *source.module;
  const double compiling = compiling_at(options.mode.flags.optimization_level);
  const auto cost = [&](const ir::Function& function) {
    return compiling * scalars_computed(module, function) + kTrip * stated_trips(function);
  };
  double sum = kAllElse + cost(module.kernels[source.kernel_index]);
  for (const ir::Function& function : module.functions)
    sum += cost(function);
  return sum;
}

std::unordered_map<std::string, double> estimate_case_costs(const std::vector<KernelGroup>& groups,
                                                            const backends::Device& device) {
  std::unordered_map<std::string, double> costs;
  for (const KernelGroup& group : groups) {
    for (const KernelSource& source : group.sources) {
      const std::vector<std::string> cases = list_case_names(source, device, group.options);
      const double cost = expected_cost(source, group.options) / static_cast<double>(cases.size());
      for (const std::string& name : cases)
        costs[name] = cost;
    }
  }
  return costs;
}

void sort_by_descending_cost(KernelGroup& group) {
  struct Family {
    double cost = 0;
    double kernels = 0;
  };
  std::map<std::string, Family> families;
  for (const KernelSource& source : group.sources) {
    Family& family = families[source.family];
    family.cost += expected_cost(source, group.options);
    ++family.kernels;
  }
  const auto mean_cost = [&](const KernelSource& source) {
    const Family& family = families[source.family];
    return std::pair(family.cost / family.kernels, std::string_view(source.family));
  };
  std::ranges::stable_sort(group.sources, std::ranges::greater{}, mean_cost);
}

std::vector<Batch> batches_of(const std::vector<KernelGroup>& groups, std::size_t jobs) {
  // Below this size, starting the compiler costs more than waiting.
  constexpr std::size_t kLeast = 8;
  const auto share = [jobs](std::size_t kernels) { return (kernels + 2 * jobs - 1) / (2 * jobs); };
  std::size_t left = 0;
  for (const KernelGroup& group : groups)
    left += group.sources.size();
  const std::size_t least = std::clamp<std::size_t>((left + jobs - 1) / jobs, 1, kLeast);
  const bool shares = has_several_devices(groups);
  std::vector<Batch> batches;
  for (const KernelGroup* group : costliest_first(groups)) {
    std::span<const KernelSource> rest = group->sources;
    const std::size_t largest =
        std::clamp(share(rest.size()), std::min(least, group->options.batch_size), group->options.batch_size);
    while (!rest.empty()) {
      const std::size_t wanted = std::min(
          rest.size(), shares ? shared_batch_size(jobs) : std::clamp(share(left), std::min(least, largest), largest));
      const std::size_t size = affordable(rest, wanted, group->options);
      batches.push_back({rest.first(size), &group->options, group->device});
      rest = rest.subspan(size);
      left -= size;
    }
  }
  if (shares) put_same_kernels_together(batches, jobs);
  return batches;
}

}  // namespace assay::harness
