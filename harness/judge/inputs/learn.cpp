// Corrects what InputSpace draws after the oracle's findings.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "harness/judge/inputs/input_space.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::Finding;

/// Spare elements, at most, in arrays of a large launch, for threads that reach farther than the sample.
constexpr std::int64_t kSpare = 1'024;
/// Least growth of an array that the kernel accesses out of bounds.
constexpr std::int64_t kStep = 8;
/// Factor by which integers become smaller when arithmetic on them overflows: from 2^52 to 0 in ten attempts.
constexpr std::int64_t kOverflowStep = 64;
/// Distances of offsets that are tried in turn, between the offsets of arrays in which threads collide. If none helps,
/// the array is not a list of offsets.
constexpr std::int64_t kSpacings[] = {0, 16, 64, 0};
/// Upper bounds of integers in arrays and of thread indices that are tried in turn if arrays become too large.
constexpr std::int64_t kSmallIntegers[] = {12, 6, 3};
/// Scalars in an array of three or more dimensions from which on smaller integers are tried.
constexpr std::int64_t kManyScalars = 1 << 16;

}  // namespace

bool InputSpace::learn_out_of_bounds(const Finding& finding, const Launch& launch) {
  const auto p = static_cast<std::size_t>(finding.parameter);
  // The oracle evaluates a sample of a large launch, and the threads that reach farthest may take another branch. Such
  // an index grows with the thread number, n * number + rest: the array gets room for the last thread.
  const std::int64_t extent = std::max(launch.extents[0], 1);
  const std::int64_t number = finding.thread / std::max<std::int64_t>(launch.threads() / extent, 1);
  const auto room_for = [&](std::int64_t index, std::int64_t held) {
    // A loop may continue only because it reads nothing beyond the array, so that the array grows in small steps.
    if (index < kThreadSamplingThreshold || number == 0) return std::min(index + 1, std::max(2 * held, held + kStep));
    const std::int64_t rest = index % number;
    return index / number * (extent - 1) + rest + std::min(rest, kSpare) + 1;
  };
  bool learned = false;
  for (std::size_t d = 0; d < finding.index.size() && d < min_array_shape_[p].size(); ++d) {
    std::int64_t index = finding.index[d];
    // An index that counts from the end is still below zero where the array is too short by as much.
    if (index < 0) index = finding.shape[d] - index - 1;
    if (index < finding.shape[d] || index < min_array_shape_[p][d]) continue;
    const std::int64_t room = room_for(index, finding.shape[d]);
    if (index >= kLargestExtent || room > kLargestExtent) continue;
    min_array_shape_[p][d] = static_cast<std::int32_t>(room);
    learned = true;
  }
  return learned;
}

bool InputSpace::learn_component(const Finding& finding, const Launch& launch) {
  const std::int64_t most = finding.shape.front() - 1;
  if (finding.index.front() <= most) return false;
  for (std::int64_t* greatest : {&max_array_integer_, &max_integer_parameter_}) {
    if (*greatest <= most) continue;
    *greatest = most;
    return true;
  }
  // Whether a variable is assigned may depend on integers, but launches do not shrink until only the first thread runs.
  if (reference::is_read_before_assignment(finding, *module_, *kernel_)) return false;
  // The index may also be a thread number.
  if (learn_index_dimension(finding, launch)) return true;
  // It may follow from the extents of arrays, which are often those of the launch.
  if (max_drawn_extent_ > most + 1) {
    max_drawn_extent_ = static_cast<std::int32_t>(most + 1);
    return true;
  }
  if (kernel_->launch_rank > 1 && max_drawn_extent_ > 1) {
    max_drawn_extent_ /= 2;
    return true;
  }
  // The index is a multiple of the integer, or a sum.
  if (!assumes_offsets_) return false;
  if (max_array_integer_ == 0 && max_integer_parameter_ == 0) return false;
  max_array_integer_ /= 2;
  max_integer_parameter_ /= 2;
  return true;
}

bool InputSpace::learn_index_dimension(const Finding& finding, const Launch& launch) {
  const std::vector<std::int32_t> numbers = thread_numbers(finding.thread, launch.extents);
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    if (numbers[d] == 0 || numbers[d] != finding.index.front() || is_extent_stated(d)) continue;
    max_launch_extent_[d] = finding.shape.front();
    return true;
  }
  // The index may be computed from several thread numbers, as the position of an element of a tile of several
  // dimensions. No thread before this one had an invalid index.
  std::optional<std::size_t> greatest;
  for (std::size_t d = numbers.size(); d-- > 0;)
    if (!is_extent_stated(d) && numbers[d] > (greatest ? numbers[*greatest] : 0)) greatest = d;
  if (greatest) max_launch_extent_[*greatest] = numbers[*greatest];
  return greatest.has_value();
}

bool InputSpace::is_extent_stated(std::size_t dimension) const {
  return !preconditions_.launch_extents.empty() &&
         preconditions_.launch_extents[dimension].kind != PreconditionTerm::Kind::kOpen;
}

bool InputSpace::learn_smaller_indices() {
  const auto* const smaller = std::ranges::upper_bound(kSmallIntegers, max_array_integer_, std::greater{});
  if (smaller == std::end(kSmallIntegers)) return false;
  max_array_integer_ = *smaller;
  max_drawn_extent_ = static_cast<std::int32_t>(*smaller) + 1;
  for (std::vector<std::int32_t>& shape : min_array_shape_)
    std::ranges::fill(shape, 0);
  return true;
}

bool InputSpace::is_free_integer_array(std::size_t parameter) const {
  const Type type = kernel_->variables[parameter].type;
  return type.is_array() && is_integer(type.scalar) && parameter_uses_[parameter].read &&
         !preconditions_.range_by_parameter[parameter];
}

bool InputSpace::is_index_source(std::size_t parameter) const {
  const auto number = static_cast<VarId>(parameter);
  return std::ranges::any_of(index_sources_, [&](const ParameterIndexSources& sources) {
    return sources.loads.direct.contains(number) || sources.loads.indirect.contains(number) ||
           sources.stores.direct.contains(number) || sources.stores.indirect.contains(number);
  });
}

bool InputSpace::has_free_integers() const {
  for (std::size_t p = 0; p < index_sources_.size(); ++p) {
    const Type type = kernel_->variables[p].type;
    const auto components = scalar_components(*module_, type.element());
    const bool has_integers =
        std::ranges::any_of(components, [](const ScalarComponent& part) { return is_integer(part.scalar); });
    if (type.is_array() && has_integers && parameter_uses_[p].read && !preconditions_.range_by_parameter[p] &&
        !is_index_source(p))
      return true;
  }
  return false;
}

bool InputSpace::is_linked(std::size_t parameter) const {
  if (!is_free_integer_array(parameter)) return false;
  std::set<VarId> reached = index_sources_[parameter].loads.direct;
  std::vector<VarId> open(reached.begin(), reached.end());
  while (!open.empty()) {
    const VarId next = open.back();
    open.pop_back();
    for (const VarId source : index_sources_[static_cast<std::size_t>(next)].loads.direct)
      if (reached.insert(source).second) open.push_back(source);
  }
  return reached.contains(static_cast<VarId>(parameter));
}

bool InputSpace::learn_links() {
  if (links_ == Links::kToNegative) return false;
  for (std::size_t p = 0; p < index_sources_.size(); ++p) {
    if (!is_linked(p)) continue;
    links_ = links_ == Links::kNone ? Links::kToFirst : Links::kToNegative;
    return true;
  }
  return false;
}

std::int64_t InputSpace::spacing_of(std::size_t parameter) const { return kSpacings[spacing_step_[parameter]]; }

bool InputSpace::learn_separate_indices(const Finding& finding) {
  if (finding.parameter == kNone) return false;
  const IndexSources& sources = index_sources_[static_cast<std::size_t>(finding.parameter)].stores;
  bool learned = false;
  for (const std::set<VarId>* kind : {&sources.direct, &sources.indirect}) {
    for (const VarId source : *kind) {
      const auto q = static_cast<std::size_t>(source);
      if (!is_free_integer_array(q) || draws_permutation_[q]) continue;
      draws_permutation_[q] = true;
      learned = true;
    }
  }
  if (learned) return true;
  for (const VarId source : sources.direct) {
    const auto q = static_cast<std::size_t>(source);
    if (!is_free_integer_array(q) || spacing_step_[q] + 1 == std::size(kSpacings)) continue;
    ++spacing_step_[q];
    learned = true;
  }
  return learned;
}

bool InputSpace::learn_overflow(const Launch& launch) {
  std::int64_t largest = 0;
  for (std::size_t p = 0; p < preconditions_.range_by_parameter.size(); ++p) {
    const auto& range = preconditions_.range_by_parameter[p];
    if (!range || !is_integer(launch.arguments[p].type.scalar)) continue;
    if (range->low) largest = std::max(largest, std::abs(range->least_integer(launch)));
    if (range->high) largest = std::max(largest, std::abs(range->greatest_integer(launch)));
  }
  const std::int64_t before = std::min(largest, max_magnitude_without_overflow_);
  if (before == 0) return false;
  max_magnitude_without_overflow_ = before / kOverflowStep;
  return true;
}

bool InputSpace::learn_tiles(const reference::ReferenceResult& reference) {
  bool learned = false;
  for (std::size_t p = 0; p < reference.extents_required_by_tiles.size(); ++p) {
    const auto& asked = reference.extents_required_by_tiles[p];
    std::vector<std::int32_t>& known = min_shape_covering_tiles_[p];
    if (!asked.empty()) known.resize(asked.size());
    for (std::size_t d = 0; d < asked.size(); ++d) {
      if (asked[d] <= known[d] || asked[d] > kLargestExtent) continue;
      known[d] = asked[d];
      learned = true;
    }
  }
  return learned;
}

bool InputSpace::learn_unit_extent(const Finding& finding, const Launch& launch) {
  if (finding.parameter == kNone) return false;
  const IndexSources& sources = index_sources_[static_cast<std::size_t>(finding.parameter)].stores;
  if (sources.direct.empty() && sources.indirect.empty()) return false;
  const std::vector<std::int32_t> first = thread_numbers(finding.thread, launch.extents);
  const std::vector<std::int32_t> second = thread_numbers(finding.earlier_thread, launch.extents);
  const auto others = std::ranges::count_if(max_launch_extent_, [](std::int32_t most) { return most > 1; }) - 1;
  for (std::size_t d = max_launch_extent_.size(); d-- > 0;) {
    if (first[d] == second[d] || max_launch_extent_[d] == 1 || others == 0 || is_extent_stated(d)) continue;
    max_launch_extent_[d] = 1;
    return true;
  }
  return false;
}

bool InputSpace::learn_race(const Finding& finding, const Launch& launch) {
  if (finding.thread == finding.earlier_thread && !has_whole_tiles_) {
    has_whole_tiles_ = true;
    return true;
  }
  if (assumes_offsets_ && learn_separate_indices(finding)) return true;
  // Another index array may decide which threads store a value.
  for (std::size_t q = 0; q < draws_permutation_.size(); ++q) {
    if (!is_free_integer_array(q) || draws_permutation_[q]) continue;
    draws_permutation_[q] = true;
    return true;
  }
  return learn_unit_extent(finding, launch);
}

bool InputSpace::has_too_large_array(const Launch& launch) const {
  for (std::size_t p = 0; p < min_array_shape_.size(); ++p) {
    const std::vector<std::int32_t>& least = min_array_shape_[p];
    if (least.size() < 3) continue;
    auto scalars = static_cast<std::int64_t>(scalar_components(*module_, kernel_->variables[p].type.element()).size());
    for (std::size_t d = 0; d < least.size(); ++d) {
      const std::int64_t extent = std::max({least[d], launch.arguments[p].shape[d], 1});
      if (scalars > kManyScalars / extent) return true;
      scalars *= extent;
    }
  }
  return false;
}

bool InputSpace::learn(const std::vector<Finding>& findings, const Launch& launch) {
  bool learned = false;
  // What makes one index of a component valid often does so for all of them.
  bool learned_component = false;
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::kOutOfBounds) continue;
    if (finding.parameter != kNone) learned |= learn_out_of_bounds(finding, launch);
    else if (!learned_component) learned_component = learn_component(finding, launch);
  }
  learned |= learned_component;
  if (learned) {
    if (has_too_large_array(launch)) learn_smaller_indices();
    return true;
  }
  const bool overflows =
      std::ranges::any_of(findings, [](const Finding& f) { return f.kind == Finding::Kind::kIntegerOverflow; });
  if (overflows && learn_overflow(launch)) return true;
  for (const Finding& finding : findings) {
    if (finding.kind == Finding::Kind::kRace && learn_race(finding, launch)) return true;
    if (finding.kind == Finding::Kind::kOrderDependentAtomic && assumes_offsets_ && learn_separate_indices(finding))
      return true;
    if (finding.kind == Finding::Kind::kInstructionLimit && learn_links()) return true;
  }
  const bool negative = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.kind == Finding::Kind::kInvalidIntegerDivision || f.kind == Finding::Kind::kOutOfBounds;
  });
  if (!negative) return false;
  for (std::size_t p = 0; p < min_integer_.size(); ++p) {
    const Type type = launch.arguments[p].type;
    if (is_integer(type.scalar) && type.shape == Shape::kScalar && min_integer_[p] < 2) {
      ++min_integer_[p];
      learned = true;
    }
  }
  return learned;
}

}  // namespace assay::harness
