#include "harness/reduce/step.hpp"

namespace assay::reduce {

std::span<const ReductionStep> steps() {
  static constexpr ReductionStep kSteps[] = {
      {.name = "drop stores and atomics", .walk = drop_stores_and_atomics, .tries_all_but_few_places = true},
      {.name = "drop statements", .walk = drop_statements, .tries_all_but_few_places = true},
      {"replace ifs by a branch", take_branches},
      {"replace loops by their bodies", unwrap_loops},
      {"inline calls", inline_calls},
      {"inline variables", inline_lets},
      {"replace expressions by operands", take_operands},
      {"replace expressions by constants", take_plain_values},
      {"replace expressions by parameters", take_parameters},
      {"shorten loops", shorten_loops},
      {"drop derivatives", drop_derivatives},
      {"drop parameters", drop_parameters},
      {"merge parameters", merge_parameters},
      {"drop fields", drop_fields},
      {"drop dimensions", drop_dimensions},
      {"replace aggregates by components", take_components},
      {"narrow scalars", narrow_scalars},
      {"drop preconditions", drop_preconditions},
      {"use a small launch size", fix_launch},
      {"replace inputs by constants", fix_inputs},
  };
  return kSteps;
}

}  // namespace assay::reduce
