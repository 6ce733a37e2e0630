#include <fmt/format.h>

#include "harness/judge/inputs/input_space.hpp"

namespace assay::harness {

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
  for (std::size_t d = 0; d < has_unit_extent_.size(); ++d) {
    if (has_unit_extent_[d])
      assumptions.push_back(
          {.description = fmt::format("dimension {} of the launch has the extent 1", d), .domain_comment = ""});
  }
  if (order_dependence_)
    assumptions.push_back(
        {.description = "the threads run one after another, in the order of their numbers, because the result depends "
                        "on their order",
         .domain_comment = ""});
  if (draws_positive_floats_)
    assumptions.push_back(
        {.description = "the floats whose range no comment states are positive", .domain_comment = ""});
  return assumptions;
}

}  // namespace assay::harness
