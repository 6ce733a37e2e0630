#include "reference/cpu/reference.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/cpu/machine.hpp"
#include "reference/cpu/points.hpp"
#include "reference/cpu/program.hpp"

namespace assay::reference {
namespace {

template <class Tracer>
OutputArray output(Interpreter<Tracer>& machine, std::size_t parameter, bool reports_only_accessed_elements) {
  auto& memory = machine.array(parameter);
  OutputArray array;
  for (std::size_t k = 0; k < memory.components(); ++k)
    array.components.push_back(memory.type(k));
  const auto add = [&](const auto& cell) {
    array.elements.push_back({cell.content.f.v, cell.content.i, cell.content.f.e, cell.is_written});
  };
  if (reports_only_accessed_elements) {
    memory.for_each_allocated_cell([&](std::size_t number, const auto& cell) {
      if (!cell.is_written) return;
      add(cell);
      array.element_indices.push_back(number);
    });
  } else {
    array.elements.reserve(memory.cells());
    memory.for_each_cell([&](std::size_t, const auto& cell) { add(cell); });
  }
  return array;
}

bool has_floats(const ParameterProperties& info) {
  for (const ir::Scalar scalar : info.components) {
    if (ir::is_float(scalar)) return true;
  }
  return false;
}

void seed(ReverseSweep& sweep, Interpreter<Tape>& machine, std::size_t parameter, const std::vector<double>& seeds) {
  for (std::size_t cell = 0; cell < seeds.size(); ++cell) {
    if (seeds[cell] != 0) sweep.seed(machine.handle_of(parameter, cell), seeds[cell]);
  }
}

/// Creates the handles of all cells with a cotangent, so that the tape is complete before the sweep.
void register_cotangent_inputs(Interpreter<Tape>& machine, const Program& program, const OracleRun& run) {
  for (std::size_t p = 0; p < run.cotangents.size(); ++p) {
    for (std::size_t cell = 0; program.parameters[p].is_array && cell < run.cotangents[p].size(); ++cell) {
      if (run.cotangents[p][cell] != 0) machine.handle_of(p, cell);
    }
  }
}

/// All zero, with one entry per scalar component; with OracleRun::reports_only_accessed_elements only for components on
/// the tape.
std::vector<std::optional<GradientArray>> empty_gradients(const Program& program, const OracleRun& run,
                                                          Interpreter<Tape>& machine, const Tape& tape) {
  std::vector<std::optional<GradientArray>> result(program.parameters.size());
  for (std::size_t p = 0; p < result.size(); ++p) {
    if (has_floats(program.parameters[p])) result[p].emplace();
  }
  if (run.reports_only_accessed_elements) {
    for (const Tape::Input& component : tape.inputs())
      result[component.parameter]->element_indices.push_back(component.component);
  }
  for (std::size_t p = 0; p < result.size(); ++p) {
    if (!result[p]) continue;
    std::ranges::sort(result[p]->element_indices);
    const ParameterProperties& info = program.parameters[p];
    const std::size_t all = info.is_array ? machine.array(p).cells() : info.components.size();
    result[p]->elements.resize(run.reports_only_accessed_elements ? result[p]->element_indices.size() : all);
  }
  return result;
}

std::vector<std::optional<GradientArray>> gradients(const Program& program, const OracleRun& run,
                                                    Interpreter<Tape>& machine, const Tape& tape,
                                                    std::vector<Adjoint>& adjoints) {
  register_cotangent_inputs(machine, program, run);
  ReverseSweep sweep(tape, run.profile, adjoints);
  for (std::size_t p = 0; p < run.cotangents.size(); ++p) {
    if (program.parameters[p].is_array) seed(sweep, machine, p, run.cotangents[p]);
  }
  sweep.run();
  machine.forget_kinks_without_effect(
      [&](Node node) { return node != 0 && sweep.adjoint(node & ~Tape::kZeroDerivativeFlag).contribution_count > 0; });
  std::vector<std::optional<GradientArray>> result = empty_gradients(program, run, machine, tape);
  for (const Tape::Input& component : tape.inputs()) {
    const Adjoint& adjoint = sweep.adjoint(component.node);
    GradientArray& array = *result[component.parameter];
    GradientElement& element = array.elements[*array.position(component.component)];
    element.value = adjoint.value;
    element.magnitude_sum = adjoint.magnitude_sum;
    element.path_magnitude = adjoint.path_magnitude;
    element.contribution_count = adjoint.contribution_count;
    const double initial_gradient = component_value(run.initial_gradients, component.parameter, component.component);
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      element.bound[precision] =
          sweep.adjoint_bound(adjoint, tape.type(component.node), precision, initial_gradient, true);
  }
  return result;
}

/// Working memory of an evaluation. Each evaluation reuses the memory of the previous one on its thread, so that the
/// pages of a long tape are not allocated again. The memory of very long tapes is released.
class Workplace {
 public:
  Workplace() : tape(std::exchange(left_tape_, {})), adjoints(std::exchange(left_adjoints_, {})) { tape.clear(); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    constexpr std::size_t kKeptNodes = std::size_t{1} << 20;
    if (tape.size() > kKeptNodes) return;
    left_tape_ = std::move(tape);
    left_adjoints_ = std::move(adjoints);
  }

  Tape tape;
  std::vector<Adjoint> adjoints;

 private:
  static thread_local Tape left_tape_;
  static thread_local std::vector<Adjoint> left_adjoints_;
};
thread_local Tape Workplace::left_tape_;
thread_local std::vector<Adjoint> Workplace::left_adjoints_;

template <class Tracer>
ReferenceResult summary(const Program& program, const OracleRun& run, Interpreter<Tracer>& machine) {
  ReferenceResult reference;
  reference.outputs.resize(program.parameters.size());
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    if (program.parameters[p].is_written) reference.outputs[p] = output(machine, p, run.reports_only_accessed_elements);
  }
  for (std::size_t p = 0; p < program.parameters.size(); ++p)
    reference.extents_required_by_tiles.push_back(machine.array(p).extents_required_by_tiles);
  for (std::size_t p = 0; run.records_extents && p < program.parameters.size(); ++p)
    reference.accessed_extents.push_back(machine.array(p).accessed_extents());
  reference.findings = machine.take_findings();
  reference.decisions = machine.decisions();
  reference.branch_points = machine.branch_points();
  reference.instructions = machine.instructions();
  reference.is_complete = machine.complete();
  return reference;
}

}  // namespace

void write_final_content(const ir::Module& module, const OutputArray& array, ir::Argument& argument) {
  const std::vector<ir::ScalarComponent> components = ir::scalar_components(module, argument.type.element());
  for (std::size_t i = 0; i < array.elements.size(); ++i) {
    const OutputElement& element = array.elements[i];
    if (!element.is_written) continue;
    const ir::ScalarComponent& component = components[i % components.size()];
    const auto number = static_cast<std::int64_t>(i / components.size());
    std::byte* const at = argument.bytes.data() + ir::element_offset(argument, number) + component.offset;
    if (ir::is_float(component.scalar)) ir::write_float(component.scalar, at, static_cast<double>(element.value));
    else ir::write_integer(component.scalar, at, element.integer);
  }
}

std::optional<std::size_t> GradientArray::position(std::size_t cell) const {
  if (element_indices.empty()) return cell < elements.size() ? std::optional(cell) : std::nullopt;
  const auto place = std::ranges::lower_bound(element_indices, cell);
  if (place == element_indices.end() || *place != cell) return std::nullopt;
  return static_cast<std::size_t>(place - element_indices.begin());
}

Result<Oracle> Oracle::make(const ir::Module& module, const ir::Function& kernel, CustomReplays custom_replays) {
  auto program = lower(module, kernel, custom_replays);
  if (!program.ok()) return program.error();
  return Oracle(std::make_unique<Program>(program.take()));
}

Oracle::Oracle(std::unique_ptr<Program> program) : program_(std::move(program)) {}
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;
Oracle::~Oracle() = default;

bool Oracle::writes(ir::VarId parameter) const {
  return program_->parameters[static_cast<std::size_t>(parameter)].is_written;
}

ReferenceResult Oracle::evaluate(const OracleRun& run) const {
  if (!run.computes_gradient) {
    NoDerivatives none;
    Interpreter<NoDerivatives> machine(*program_, run, none);
    machine.run();
    return summary(*program_, run, machine);
  }
  Workplace workplace;
  Interpreter<Tape> machine(*program_, run, workplace.tape);
  machine.run();
  auto gradient = gradients(*program_, run, machine, workplace.tape, workplace.adjoints);
  ReferenceResult reference = summary(*program_, run, machine);
  reference.gradients = std::move(gradient);
  return reference;
}

Tangents Oracle::tangents(const OracleRun& run, const std::vector<ComponentValues>& directions,
                          long double step) const {
  DualNumbers duals(directions);
  const ComponentValues none;
  const Perturbation moved{directions.empty() ? none : directions[0], step};
  Interpreter<DualNumbers> machine(*program_, run, duals, step == 0 ? nullptr : &moved, false);
  machine.run();
  Tangents result{.outputs = {}, .path_hash = machine.decisions().path_hash, .is_complete = machine.complete()};
  result.outputs.resize(program_->parameters.size());
  for (std::size_t p = 0; p < result.outputs.size(); ++p) {
    if (!program_->parameters[p].is_written) continue;
    const std::size_t cells = machine.array(p).cells();
    for (std::size_t cell = 0; cell < cells; ++cell)
      result.outputs[p].push_back(machine.handle_of(p, cell).tangent);
  }
  return result;
}

DirectionalDifferences Oracle::directional_differences(const OracleRun& run, const ComponentValues& direction,
                                                       long double largest_step) const {
  return ridders_extrapolation(*program_, run, direction, largest_step);
}

std::optional<ReferenceResult> Oracle::evaluate_if_same_path(const OracleRun& run, const ComponentValues& direction,
                                                             std::span<const long double> steps) const {
  PointTracer points(direction, steps, run);
  Interpreter<PointTracer> machine(*program_, run, points);
  machine.run();
  if (points.has_diverged()) return std::nullopt;
  return summary(*program_, run, machine);
}

long double gradient_disagreement(const ReferenceResult& from_reverse_sweep, const Tangents& tangents,
                                  int direction_number, const OracleRun& run, const ComponentValues& direction) {
  long double forward = 0;
  long double reverse = 0;
  long double magnitude_sum = 0;
  for (std::size_t p = 0; p < tangents.outputs.size(); ++p) {
    for (std::size_t cell = 0; cell < tangents.outputs[p].size(); ++cell) {
      const long double cotangent = static_cast<long double>(component_value(run.cotangents, p, cell));
      if (cotangent != 0) forward += cotangent * tangents.outputs[p][cell][static_cast<std::size_t>(direction_number)];
    }
  }
  for (std::size_t p = 0; p < from_reverse_sweep.gradients.size(); ++p) {
    if (!from_reverse_sweep.gradients[p]) continue;
    const auto& elements = from_reverse_sweep.gradients[p]->elements;
    for (std::size_t k = 0; k < elements.size(); ++k) {
      const long double change = static_cast<long double>(component_value(direction, p, k));
      if (change == 0) continue;
      reverse += elements[k].value * change;
      // Relative to the magnitudes along all paths: if they cancel, as in dot(cross(v, w), v), only rounding errors
      // remain.
      const double paths = std::isfinite(elements[k].path_magnitude) ? elements[k].path_magnitude : 0;
      magnitude_sum +=
          static_cast<long double>(std::max(elements[k].magnitude_sum, paths)) * (change < 0 ? -change : change);
    }
  }
  const long double apart = forward < reverse ? reverse - forward : forward - reverse;
  // Magnitudes are doubles: below their range the two sums may have lost different parts to underflow.
  const long double greatest = std::max({magnitude_sum, std::abs(forward), std::abs(reverse)});
  if (greatest < static_cast<long double>(std::numeric_limits<double>::min())) return 0;
  return apart == 0 ? 0 : apart / magnitude_sum;
}

}  // namespace assay::reference
