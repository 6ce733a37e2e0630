#include "harness/reduce/step.hpp"

namespace assay::reduce {

std::span<const Step> steps() {
  static constexpr Step kSteps[] = {
      {.name = "drop effects", .walk = drop_effects, .takes_most = true},
      {.name = "drop statements", .walk = drop_statements, .takes_most = true},
      {"take arms", take_arms},
      {"unwrap loops", unwrap_loops},
      {"inline calls", inline_calls},
      {"inline variables", inline_lets},
      {"take operands", take_operands},
      {"take plain values", take_plain_values},
      {"take parameters", take_parameters},
      {"shorten loops", shorten_loops},
      {"drop derivatives", drop_derivatives},
      {"drop parameters", drop_parameters},
      {"merge parameters", merge_parameters},
      {"drop fields", drop_fields},
      {"drop dimensions", drop_dimensions},
      {"take components", take_components},
      {"narrow scalars", narrow_scalars},
      {"drop hints", drop_preconditions},
      {"fix the launch", fix_launch},
      {"fix inputs", fix_inputs},
  };
  return kSteps;
}

}  // namespace assay::reduce
