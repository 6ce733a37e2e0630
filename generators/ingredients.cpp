#include "generators/ingredients.hpp"

#include <string_view>

namespace assay::generators {
namespace {

constexpr std::string_view kInputNames[] = {"x", "y", "z", "a", "u", "w", "q", "force", "mass", "height", "weight"};
constexpr std::string_view kScalarNames[] = {"alpha", "beta", "dt", "scale", "gain", "bias", "rate"};
constexpr std::string_view kOutputNames[] = {"out", "result", "energy", "loss", "next"};
constexpr std::string_view kTemporaryNames[] = {"t", "s", "d", "e", "r", "c"};
/// The functions of Warp's library that draw a number or a point; `randn` and the others take the state only.
constexpr std::string_view kDraws[] = {"randi",
                                       "randu",
                                       "randf",
                                       "randn",
                                       "poisson",
                                       "sample_triangle",
                                       "sample_unit_ring",
                                       "sample_unit_disk",
                                       "sample_unit_sphere_surface",
                                       "sample_unit_sphere",
                                       "sample_unit_hemisphere_surface",
                                       "sample_unit_hemisphere",
                                       "sample_unit_square",
                                       "sample_unit_cube"};

/// The operands after the state: bounds, or the mean.
std::vector<ir::ExprId> operands_of_draw(ir::Builder& b, std::string_view name, Rng& rng) {
  if (name == "poisson") return {b.f32(truncate_to_two_digits(rng.uniform_real(0.5, 6)))};
  const bool is_integer = name == "randi" || name == "randu";
  if (is_integer && rng.bernoulli(0.4)) return {};
  if (name == "randi") return {b.i32(rng.uniform_int(-9, -1)), b.i32(rng.uniform_int(2, 9))};
  if (name == "randu") {
    const ir::Type state = scalar_type(ir::Scalar::kU32);
    const ir::ExprId low = b.literal(state, rng.uniform_int(std::int64_t{0}, std::int64_t{3}));
    return {low, b.literal(state, rng.uniform_int(std::int64_t{5}, std::int64_t{12}))};
  }
  if (name == "randf" && rng.bernoulli(0.5)) {
    const ir::ExprId low = b.f32(truncate_to_two_digits(rng.uniform_real(-1.5, -0.5)));
    return {low, b.f32(truncate_to_two_digits(rng.uniform_real(0.5, 1.5)))};
  }
  return {};
}

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

void draw_random_numbers(KernelSketch& sketch, Rng& rng) {
  ir::Builder& b = sketch.b();
  const ir::ExprId seed = b.i32(rng.uniform_int(1, 99));
  const std::vector<ir::ExprId> seeds = rng.bernoulli(0.3)
                                            ? std::vector{b.op(ir::Op::kAdd, {sketch.thread_index(), seed})}
                                            : std::vector{seed, sketch.thread_index()};
  const ir::VarId state = b.let(sketch.unique_name("state"), sketch.warp("rand_init", seeds));
  sketch.set_new_range(state, {0, 1});
  for (int left = rng.uniform_int(2, 3); left > 0; --left) {
    const std::string_view name = rng.choose(kDraws);
    std::vector<ir::ExprId> operands{b.var(state)};
    for (const ir::ExprId operand : operands_of_draw(b, name, rng))
      operands.push_back(operand);
    const char* const kind = name.starts_with("sample") ? "point" : name == "randn" ? "normal" : "draw";
    const std::vector<ir::VarId> results = sketch.warp_results(name, operands, {kind, "next_state"});
    b.assign(state, b.var(results[1]));
    sketch.set_new_range(results[0], {-12, 12});
    sketch.set_new_range(results[1], {0, 1});
    const ir::VarId drawn = results[0];
    const ir::Type type = b.function().var(drawn).type;
    const int part = rng.uniform_int(0, type.components() - 1);
    const auto make = [&b, drawn, type, part] {
      if (!type.is_scalar()) return b.op(ir::Op::kExtract, {b.var(drawn), b.i32(part)});
      if (type == ir::kF32) return b.var(drawn);
      return b.cast(ir::kF32, b.op(ir::Op::kMod, {b.var(drawn), b.literal(type, std::int64_t{16})}));
    };
    const Interval range = type.is_scalar() && name != "randf" ? Interval{-32, 32} : Interval{-2, 2};
    sketch.offer({.type = ir::kF32, .range = range, .make = make, .variable = ir::kNone, .is_discrete = true});
  }
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
