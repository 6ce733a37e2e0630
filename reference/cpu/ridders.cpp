#include "reference/cpu/ridders.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/cpu/machine.hpp"
#include "reference/cpu/points.hpp"

namespace assay::reference {
namespace {

constexpr int kRows = 6;
constexpr int kMostReductions = 6;
/// An estimate whose error is above this, relative to the greater of its value and 1, decides nothing.
constexpr long double kConverged = 1e-6L;
/// Rounding to long double over rounding to double, and four times as much for points that are bounded worse.
constexpr long double kRoundingNoise = 0x1p-9L;
/// From one step to the next smaller. Steps that halve see one and the same slow wave in the place of a fast one whose
/// phase moves by nearly a multiple of pi within the smallest: the extrapolation then converges, to a wrong number. No
/// such multiple fits steps of the golden ratio.
constexpr long double kRatio = 1.618033988749894848L;
/// Of the room that there is, so that no point is a short number: such round nothing, and hide what others do.
constexpr long double kOddShare = 0.969337216493581527L;
/// How much more than a difference's error the extrapolated one's may be: the product of (q^k + 1) / (q^k - 1), q the
/// ratio's square.
constexpr long double kAmplification = 4;

/// Outputs at one point: values of all written arrays, one after another.
using Values = std::vector<long double>;

/// visit(value, cell) for all cells of written arrays, one array after another.
template <class Visit>
void for_each_output(const Program& program, Machine<Points>& machine, Visit visit) {
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    if (!program.parameters[p].is_written) continue;
    machine.array(p).for_each([&](std::size_t cell, const auto&) {
      machine.handle_of(p, cell);
      const std::size_t leaves = machine.array(p).leaves();
      visit(machine.array(p).cell(cell / leaves, cell % leaves).content);
    });
  }
}

/// The greatest step by which no leaf moves more than 2^-6 max(1, |x|).
long double first_step(const Program& program, const Run& run, const ComponentValues& direction) {
  long double step = std::numeric_limits<long double>::infinity();
  for (std::size_t p = 0; p < direction.size(); ++p) {
    const ir::Argument& argument = run.launch.arguments[p];
    const auto leaves = ir::leaves_of(*program.module, argument.type.element());
    for (std::size_t k = 0; k < direction[p].size(); ++k) {
      const ir::ScalarComponent& leaf = leaves[k % leaves.size()];
      if (direction[p][k] == 0 || !ir::is_float(leaf.scalar)) continue;
      const std::size_t base = program.parameters[p].is_array
                                   ? ir::element_offset(argument, static_cast<std::int64_t>(k / leaves.size()))
                                   : 0;
      const double x = ir::read_float(leaf.scalar, argument.bytes.data() + base + leaf.offset);
      const double room = 0x1p-6 * std::max(1.0, std::abs(x)) / std::abs(direction[p][k]);
      step = std::min(step, static_cast<long double>(room));
    }
  }
  return step;
}

struct Stencil {
  std::array<std::array<Values, 2>, kRows> at;  ///< by step, the first the greatest, and side
  Values noise;                                 ///< by output: what rounding to long double may have done to it
};

/// Evaluates the stencil; false where a point leaves the path of the others or the domain. All go through one
/// interpretation, which is that of an outermost point: there the bounds, which take most of the time, say what
/// rounding does. In the middle it may do nothing at all, where the inputs are short numbers.
bool fill(Stencil& stencil, const Program& program, const Run& run, const ComponentValues& direction,
          long double step) {
  // From the outermost point: to the middle, to the other outermost one, and to those between.
  std::array<long double, 2 * kRows> steps;
  static_assert(steps.size() <= kSteps);
  steps[0] = -step;
  steps[1] = -2 * step;
  long double h = step;
  for (std::size_t k = 2; k < steps.size(); k += 2) {
    h /= kRatio;
    steps[k] = h - step;
    steps[k + 1] = -h - step;
  }
  Points points(direction, steps, run);
  const Perturbation outermost{direction, step};
  Machine<Points> machine(program, run, points, &outermost);
  machine.run();
  if (points.strayed()) return false;
  for (auto& row : stencil.at) {
    for (Values& values : row)
      values.clear();
  }
  stencil.noise.clear();
  bool stays_in_domain = true;
  for_each_output(program, machine, [&](const Points::Value& content) {
    const bool is_defined = std::isfinite(Points::at(content, 0));
    stencil.at[0][0].push_back(content.f.v);
    for (std::size_t k = 1; k < steps.size(); ++k)
      stencil.at[k / 2][k % 2].push_back(Points::at(content, k));
    for (const auto& row : stencil.at)
      stays_in_domain &= !is_defined || (std::isfinite(row[0].back()) && std::isfinite(row[1].back()));
    // The bound for double, in which every rounding along the way counts, carried over to long double.
    const double bound = content.f.e[kPromoted];
    stencil.noise.push_back(bound < kUnbounded ? kRoundingNoise * bound : 0x1p-60L * std::abs(content.f.v));
  });
  return stays_in_domain;
}

Differences::Estimate extrapolate(const Stencil& stencil, std::size_t output, long double step) {
  std::array<std::array<long double, kRows>, kRows> table;
  Differences::Estimate best{0, std::numeric_limits<long double>::infinity()};
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

void estimate(Differences& result, const Program& program, const Run& run, const Stencil& stencil, long double step) {
  std::size_t output = 0;
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    result.outputs[p].clear();
    if (!program.parameters[p].is_written) continue;
    const std::size_t leaves = program.parameters[p].leaves.size();
    const auto cells = static_cast<std::size_t>(ir::element_count(run.launch.arguments[p])) * leaves;
    for (std::size_t cell = 0; cell < cells; ++cell)
      result.outputs[p].push_back(extrapolate(stencil, output++, step));
  }
}

bool converged(const Differences& result) {
  for (const auto& outputs : result.outputs) {
    for (const Differences::Estimate& estimate : outputs) {
      if (!std::isfinite(estimate.value)) continue;
      if (estimate.error > kConverged * std::max(std::abs(estimate.value), 1.0L)) return false;
    }
  }
  return true;
}

}  // namespace

Differences ridders(const Program& program, const Run& run, const ComponentValues& direction,
                    long double largest_step) {
  Differences result;
  result.outputs.resize(program.parameters.size());
  long double step = first_step(program, run, direction);
  step = std::min(std::isfinite(step) ? kOddShare * step : 1, largest_step);
  Stencil stencil;
  for (int reduction = 0; reduction <= kMostReductions; ++reduction, step /= 4) {
    if (!fill(stencil, program, run, direction, step)) continue;
    estimate(result, program, run, stencil, step);
    // A function that bends much within the stencil, as near a pole, wants a smaller one.
    result.same_path = converged(result);
    result.step = step;
    if (result.same_path) break;
  }
  return result;
}

}  // namespace assay::reference
