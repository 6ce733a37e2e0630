#include "generators/ingredients.hpp"

#include <string_view>

namespace assay::generators {
namespace {

constexpr std::string_view kInputNames[] = {"x", "y", "z", "a", "u", "w", "q", "force", "mass", "height", "weight"};
constexpr std::string_view kScalarNames[] = {"alpha", "beta", "dt", "scale", "gain", "bias", "rate"};
constexpr std::string_view kOutputNames[] = {"out", "result", "energy", "loss", "next"};
constexpr std::string_view kTemporaryNames[] = {"t", "s", "d", "e", "r", "c"};

}  // namespace

ir::Type choose_float_type(Rng& rng, double f64_probability) {
  return rng.bernoulli(f64_probability) ? ir::kF64 : ir::kF32;
}

std::vector<ir::VarId> add_inputs(KernelSketch& sketch, ir::Type element, int rank, int fewest, int most) {
  std::vector<ir::VarId> inputs;
  for (int left = sketch.rng().uniform_int(fewest, most); left > 0; --left)
    inputs.push_back(sketch.array(sketch.rng().choose(kInputNames), element, rank));
  return inputs;
}

std::vector<ir::VarId> add_scalar_parameters(KernelSketch& sketch, ir::Type type, int fewest, int most,
                                             Interval domain) {
  std::vector<ir::VarId> scalars;
  for (int left = sketch.rng().uniform_int(fewest, most); left > 0; --left)
    scalars.push_back(sketch.scalar(sketch.rng().choose(kScalarNames), type, domain));
  return scalars;
}

std::vector<ir::VarId> add_outputs(KernelSketch& sketch, ir::Type element, int fewest, int most) {
  std::vector<ir::VarId> outputs;
  for (int left = sketch.rng().uniform_int(fewest, most); left > 0; --left)
    outputs.push_back(sketch.output(sketch.rng().choose(kOutputNames), element));
  return outputs;
}

void offer_variables(KernelSketch& sketch, const std::vector<ir::VarId>& variables) {
  for (const ir::VarId variable : variables)
    sketch.offer_variable(variable);
}

void offer_arrays(KernelSketch& sketch, const std::vector<ir::VarId>& arrays) {
  for (const ir::VarId array : arrays)
    sketch.offer_elements({array});
}

void maybe_guard(KernelSketch& sketch, ir::VarId array) {
  if (!sketch.rng().bernoulli(0.2)) return;
  ir::Builder& b = sketch.b();
  const ir::ExprId beyond = b.op(ir::Op::kGe, {sketch.thread_index(), b.shape_of(array, 0)});
  sketch.if_({beyond, {0, 1}}, [&] { b.return_(); });
}

void add_temporaries(ExpressionGenerator& generator, int count, int depth) {
  KernelSketch& sketch = generator.sketch();
  for (int left = count; left > 0; --left) {
    // Draw the name first: the evaluation order of arguments differs between compilers.
    const std::string_view name = sketch.rng().choose(kTemporaryNames);
    // Not a constant: comparisons with it would always have the same result.
    RangedExpression value = generator.grow(depth);
    if (!generator.depends_on_leaves(value.expr))
      value = sketch.leaf(generator.real(), KernelSketch::From::kInputs).value_or(value);
    sketch.let(name, value);
  }
}

void store_outputs(ExpressionGenerator& generator, const std::vector<ir::VarId>& outputs, int depth, ir::VarId result) {
  KernelSketch& sketch = generator.sketch();
  for (const ir::VarId output : outputs) {
    RangedExpression value = generator.grow(depth);
    if (output == outputs.front()) {
      if (result != ir::kNone) value = generator.add(generator.fit(value, {-4, 4}), sketch.read(result));
      value = generator.add_unused_leaves(value);
    }
    sketch.store(output, value);
  }
}

}  // namespace assay::generators
