#include "harness/reduce/step.hpp"

namespace assay::reduce {

std::span<const ReductionStep> steps() {
  static constexpr ReductionStep kSteps[] = {
      {.name = "drop effects", .walk = drop_stores_and_atomics, .tries_all_but_few_places = true},
      {.name = "drop statements", .walk = drop_statements, .tries_all_but_few_places = true},
      {"take branches", take_branches},
      {"unwrap loops", unwrap_loops},
      {"inline calls", inline_calls},
      {"inline variables", inline_lets},
      {"take operands", take_operands},
      {"use constant values", take_plain_values},
      {"take parameters", take_parameters},
      {"shorten loops", shorten_loops},
      {"drop derivatives", drop_derivatives},
      {"drop parameters", drop_parameters},
      {"merge parameters", merge_parameters},
      {"drop fields", drop_fields},
      {"drop dimensions", drop_dimensions},
      {"take components", take_components},
      {"narrow scalars", narrow_scalars},
      {"drop preconditions", drop_preconditions},
      {"fix the launch size", fix_launch},
      {"fix inputs", fix_inputs},
  };
  return kSteps;
}

}  // namespace assay::reduce
