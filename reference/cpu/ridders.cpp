#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/cpu/machine.hpp"
#include "reference/cpu/points.hpp"

namespace assay::reference {
namespace {

constexpr int kRows = 6;
constexpr int kMaxReductions = 6;
/// Maximum error of a converged estimate, relative to the greater of its value and 1.
constexpr long double kConverged = 1e-6L;
/// Ratio of rounding in long double to rounding in double, times four for points with greater bounds.
constexpr long double kRoundingNoise = 0x1p-9L;
/// Ratio of a step to the next smaller step. With halved steps, a fast oscillation whose phase changes by nearly a
/// multiple of pi within the smallest step is aliased to a slow one, and the extrapolation converges to an incorrect
/// value. Steps in the golden ratio avoid such aliasing.
constexpr long double kRatio = 1.618033988749894848L;
/// Fraction of the available step, so that points have full-length mantissas: short ones do not round, which would hide
/// the rounding at other points.
constexpr long double kOddShare = 0.969337216493581527L;
/// Error amplification of the extrapolation: the product of (q^k + 1) / (q^k - 1), where q is the square of the ratio.
constexpr long double kAmplification = 4;

/// Outputs at one point: the values of all written arrays in order.
using Values = std::vector<long double>;

/// visit(value, cell) for all cells of all written arrays in order.
template <class Visit>
void for_each_output(const Program& program, Interpreter<PointTracer>& machine, Visit visit) {
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    if (!program.parameters[p].is_written) continue;
    machine.array(p).for_each_cell([&](std::size_t cell, const auto&) {
      machine.handle_of(p, cell);
      const std::size_t components = machine.array(p).components();
      visit(machine.array(p).cell(cell / components, cell % components).content);
    });
  }
}

/// The greatest step that moves no scalar component by more than 2^-6 max(1, |x|).
long double first_step(const Program& program, const OracleRun& run, const ComponentValues& direction) {
  long double step = std::numeric_limits<long double>::infinity();
  for (std::size_t p = 0; p < direction.size(); ++p) {
    const ir::Argument& argument = run.launch.arguments[p];
    const auto components = ir::scalar_components(*program.module, argument.type.element());
    for (std::size_t k = 0; k < direction[p].size(); ++k) {
      const ir::ScalarComponent& component = components[k % components.size()];
      if (direction[p][k] == 0 || !ir::is_float(component.scalar)) continue;
      const std::size_t base = program.parameters[p].is_array
                                   ? ir::element_offset(argument, static_cast<std::int64_t>(k / components.size()))
                                   : 0;
      const double x = ir::read_float(component.scalar, argument.bytes.data() + base + component.offset);
      const double room = 0x1p-6 * std::max(1.0, std::abs(x)) / std::abs(direction[p][k]);
      step = std::min(step, static_cast<long double>(room));
    }
  }
  return step;
}

struct Stencil {
  std::array<std::array<Values, 2>, kRows> at;  ///< by step, starting with the greatest, and side
  Values noise;                                 ///< by output: possible rounding error in long double
  std::vector<char> is_exact;                   ///< by output: whether nothing rounds but the moved inputs themselves
};

/// Evaluates the stencil; false if a point leaves the path of the others or the domain. One interpretation evaluates
/// all points. It runs at an outermost point, where the bounds, which take most of the time, show the effect of
/// rounding. At the center there may be no rounding at all, because the inputs have short mantissas.
bool fill(Stencil& stencil, const Program& program, const OracleRun& run, const ComponentValues& direction,
          long double step) {
  // Offsets from the outermost point: to the center, to the other outermost point, and to the points between.
  std::array<long double, 2 * kRows> steps;
  static_assert(steps.size() <= kMaxShiftedPointCount);
  steps[0] = -step;
  steps[1] = -2 * step;
  long double h = step;
  for (std::size_t k = 2; k < steps.size(); k += 2) {
    h /= kRatio;
    steps[k] = h - step;
    steps[k + 1] = -h - step;
  }
  PointTracer points(direction, steps, run);
  const Perturbation outermost{direction, step};
  Interpreter<PointTracer> machine(program, run, points, &outermost);
  machine.run();
  if (points.has_diverged()) return false;
  for (auto& row : stencil.at) {
    for (Values& values : row)
      values.clear();
  }
  stencil.noise.clear();
  stencil.is_exact.clear();
  bool stays_in_domain = true;
  for_each_output(program, machine, [&](const PointTracer::Value& content) {
    const bool is_defined = std::isfinite(PointTracer::at(content, 0));
    stencil.at[0][0].push_back(content.f.v);
    for (std::size_t k = 1; k < steps.size(); ++k)
      stencil.at[k / 2][k % 2].push_back(PointTracer::at(content, k));
    for (const auto& row : stencil.at)
      stays_in_domain &= !is_defined || (std::isfinite(row[0].back()) && std::isfinite(row[1].back()));
    // The bound for double, which includes every rounding, scaled to long double.
    const double bound = content.f.e[kPromoted];
    stencil.is_exact.push_back(bound == 0 ? 1 : 0);
    stencil.noise.push_back(bound == 0           ? 0x1p-63L * std::abs(content.f.v)
                            : bound < kUnbounded ? kRoundingNoise * bound
                                                 : 0x1p-60L * std::abs(content.f.v));
  });
  return stays_in_domain;
}

DirectionalDifferences::Estimate extrapolate(const Stencil& stencil, std::size_t output, long double step) {
  std::array<std::array<long double, kRows>, kRows> table;
  DirectionalDifferences::Estimate best{0, std::numeric_limits<long double>::infinity()};
  for (std::size_t row = 0; row < kRows; ++row, step /= kRatio) {
    table[0][row] = (stencil.at[row][0][output] - stencil.at[row][1][output]) / (2 * step);
    if (row == 0) best.value = table[0][0];
    const long double noise = kAmplification * stencil.noise[output] / step;
    long double factor = kRatio * kRatio;
    for (std::size_t order = 1; order <= row; ++order, factor *= kRatio * kRatio) {
      table[order][row] = (table[order - 1][row] * factor - table[order - 1][row - 1]) / (factor - 1);
      const long double error = noise + std::max(std::abs(table[order][row] - table[order - 1][row]),
                                                 std::abs(table[order][row] - table[order - 1][row - 1]));
      if (error < best.error) best = {table[order][row], error};
    }
  }
  return best;
}

void estimate(DirectionalDifferences& result, const Program& program, const OracleRun& run, const Stencil& stencil,
              long double step) {
  std::size_t output = 0;
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    result.outputs[p].clear();
    if (!program.parameters[p].is_written) continue;
    const std::size_t components = program.parameters[p].components.size();
    const auto cells = static_cast<std::size_t>(ir::element_count(run.launch.arguments[p])) * components;
    for (std::size_t cell = 0; cell < cells; ++cell)
      result.outputs[p].push_back(extrapolate(stencil, output++, step));
  }
}

/// Ignores copies of inputs that are too great for the step: their differences are only noise, whatever the step.
bool converged(const DirectionalDifferences& result, const Stencil& stencil, long double step) {
  std::size_t output = 0;
  for (const auto& outputs : result.outputs) {
    for (const DirectionalDifferences::Estimate& estimate : outputs) {
      const bool is_exact = stencil.is_exact[output] != 0;
      const long double noise = kAmplification * stencil.noise[output++] / step;
      const long double allowed = kConverged * std::max(std::abs(estimate.value), 1.0L);
      if (!std::isfinite(estimate.value) || (is_exact && noise > allowed)) continue;
      if (estimate.error > allowed) return false;
    }
  }
  return true;
}

}  // namespace

DirectionalDifferences ridders_extrapolation(const Program& program, const OracleRun& run,
                                             const ComponentValues& direction, long double largest_step) {
  DirectionalDifferences result;
  result.outputs.resize(program.parameters.size());
  long double step = first_step(program, run, direction);
  step = std::min(std::isfinite(step) ? kOddShare * step : 1, largest_step);
  Stencil stencil;
  for (int reduction = 0; reduction <= kMaxReductions; ++reduction, step /= 4) {
    if (!fill(stencil, program, run, direction, step)) continue;
    estimate(result, program, run, stencil, step);
    // A function with high curvature within the stencil, as near a pole, needs a smaller step.
    result.is_same_path = converged(result, stencil, step);
    result.step = step;
    if (result.is_same_path) break;
  }
  return result;
}

}  // namespace assay::reference
