#include <algorithm>

#include <fmt/format.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/inputs/repeated_array.hpp"

namespace assay::harness {
namespace {

using ir::Argument;
using ir::Launch;
using reference::Finding;

/// How many times longer an array becomes, so that integers that limit a loop end it inside the array.
constexpr std::int32_t kExtentFactor = 32;

/// A dimension in which the index equals the extent of the array; `index.size()` if there is none.
std::size_t dimension_behind_end(const Finding& finding) {
  std::size_t d = 0;
  while (d < finding.index.size() && (d >= finding.shape.size() || finding.index[d] != finding.shape[d]))
    ++d;
  return d;
}

bool is_behind_end(const Finding& finding) {
  return finding.kind == Finding::Kind::kOutOfBounds && finding.parameter != ir::kNone &&
         dimension_behind_end(finding) < finding.index.size();
}

}  // namespace

void InputSpace::keep_access_behind_end(const std::vector<Finding>& findings, const Launch& launch) {
  if (!has_while_loop_ || is_trial_) return;
  const auto finding = std::ranges::find_if(findings, is_behind_end);
  if (finding == findings.end()) return;
  const auto parameter = static_cast<std::size_t>(finding->parameter);
  if (accesses_without_limit_.contains(parameter) || element_count(launch.arguments[parameter]) == 0) return;
  access_behind_end_ = {.launch = launch, .parameter = parameter, .dimension = dimension_behind_end(*finding)};
}

void InputSpace::check_access_behind_end(const DrawRequest& request, const Launch& launch_with_longer_array) {
  if (!access_behind_end_) return;
  const AccessBehindEnd access = *std::move(access_behind_end_);
  access_behind_end_.reset();
  const auto extent = [&](const Launch& launch) { return launch.arguments[access.parameter].shape[access.dimension]; };
  if (extent(launch_with_longer_array) <= extent(access.launch)) return;
  const std::int64_t elements = element_count(launch_with_longer_array.arguments[access.parameter]);
  if (elements * kExtentFactor > request.max_elements) return;
  // The integers stay, because they often limit a loop, perhaps to more iterations than the array has elements.
  Launch launch = launch_with_longer_array;
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    Argument& argument = launch.arguments[p];
    const Argument& kept = access.launch.arguments[p];
    const Argument& values = is_float(argument.type.scalar) && element_count(kept) != 0 ? kept : argument;
    std::vector<std::int32_t> shape = argument.shape;
    if (p == access.parameter) shape[access.dimension] *= kExtentFactor;
    const bool is_array_with_elements = argument.type.is_array() && element_count(values) != 0;
    argument = is_array_with_elements ? repeated(*module_, values, shape) : values;
  }
  const reference::ReferenceResult result = oracle_->evaluate(run_of(request, launch));
  const auto finding = std::ranges::find_if(result.findings, [&](const Finding& f) {
    return is_behind_end(f) && static_cast<std::size_t>(f.parameter) == access.parameter &&
           dimension_behind_end(f) == access.dimension;
  });
  if (finding != result.findings.end()) accesses_without_limit_.emplace(access.parameter, finding->loc);
}

std::vector<InputAssumption> InputSpace::assumptions() const {
  std::vector<InputAssumption> assumptions;
  for (std::size_t p = 0; p < draws_permutation_.size(); ++p) {
    const std::string& name = kernel_->variables[p].name;
    if (links_ != Links::kNone && is_linked(p)) {
      assumptions.push_back({.description = fmt::format("each element of '{}' is {}less than its index", name,
                                                        links_ == Links::kToNegative ? "-1 or " : "0 or "),
                             .domain_comment = ""});
    } else if (spacing_of(p) > 0) {
      assumptions.push_back({.description = fmt::format("the elements of '{}' are ascending offsets, each at least {} "
                                                        "greater than the one before",
                                                        name, least_distance_of_offsets(p)),
                             .domain_comment = ""});
    } else if (draws_permutation_[p]) {
      assumptions.push_back({.description = fmt::format("the elements of '{}' are a permutation of its indices", name),
                             .domain_comment = fmt::format("# domain: {} is a permutation", name)});
    }
  }
  for (std::size_t d = 0; d < max_launch_extent_.size(); ++d) {
    const std::int32_t most = max_launch_extent_[d];
    if (most == kUnlimited) continue;
    assumptions.push_back({.description = fmt::format("dimension {} of the launch has the extent {}{}", d, most,
                                                      most == 1 ? "" : " or less"),
                           .domain_comment = ""});
  }
  if (order_dependence_)
    assumptions.push_back(
        {.description = "the threads run one after another, in the order of their numbers, because the result depends "
                        "on their order",
         .domain_comment = ""});
  for (const auto& [parameter, loc] : accesses_without_limit_)
    assumptions.push_back(
        {.description = fmt::format("the values of the inputs keep the loop's accesses in line {} inside '{}'",
                                    loc.line, kernel_->variables[parameter].name),
         .domain_comment = ""});
  if (draws_positive_floats_)
    assumptions.push_back(
        {.description = "the floats whose range no comment states are positive", .domain_comment = ""});
  return assumptions;
}

}  // namespace assay::harness
