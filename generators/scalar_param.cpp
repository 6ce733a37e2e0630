// By-value parameters: floats of both sizes, integers, bools, vectors and a struct, active and inactive.
#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kDiv, Op::kCos, Op::kMax, Op::kConditional};

/// Parameters whose leaves can only be offered after the body begins.
struct Parameters {
  std::vector<ir::VarId> reals;
  ir::VarId other = ir::kNone;  ///< of the other float type
  ir::VarId vector = ir::kNone;
  ir::VarId integer = ir::kNone;
  ir::VarId flag = ir::kNone;
  ir::VarId settings = ir::kNone;  ///< a struct of three floats and a vector
};

Parameters add_parameters(KernelSketch& sketch, ir::Type real) {
  Rng& rng = sketch.rng();
  Parameters p;
  p.reals = add_scalar_parameters(sketch, real, 1, 3);
  if (rng.bernoulli(0.3)) p.other = sketch.scalar("fine", real == ir::kF32 ? ir::kF64 : ir::kF32);
  if (rng.bernoulli(0.5)) p.vector = sketch.scalar("direction", vector_type(real.scalar, rng.uniform_int(2, 4)));
  if (rng.bernoulli(0.4)) {
    const ir::Type integer = choose_integer_type(rng);
    p.integer = sketch.scalar("count", integer, small_domain(integer));
  }
  if (rng.bernoulli(0.3)) p.flag = sketch.scalar("enabled", ir::kBool);
  if (rng.bernoulli(0.25)) {
    const ir::Type settings = sketch.add_struct(
        {.name = "Settings",
         .fields = {{"stiffness", real}, {"damping", real}, {"offset", vector_type(real.scalar, 3)}}});
    p.settings = sketch.scalar("settings", settings);
  }
  return p;
}

void offer_component(KernelSketch& sketch, ir::Type real, std::function<ir::ExprId()> vector, int component) {
  sketch.offer({.type = real, .range = kDefaultInputDomain, .make = [&sketch, vector = std::move(vector), component] {
                  const ir::ExprId v = vector();
                  return sketch.b().op(Op::kExtract, {v, sketch.b().i32(component)});
                }});
}

void offer_parameters(KernelSketch& sketch, const Parameters& p, ir::Type real) {
  ir::Builder& b = sketch.b();
  offer_variables(sketch, p.reals);
  if (p.other != ir::kNone)
    sketch.offer(
        {.type = real, .range = kDefaultInputDomain, .make = [&b, p, real] { return b.cast(real, b.var(p.other)); }});
  if (p.vector != ir::kNone) {
    const int length = b.function().var(p.vector).type.rows;
    for (int c = 0; c < length; ++c)
      offer_component(
          sketch, real, [&b, p] { return b.var(p.vector); }, c);
  }
  if (p.integer != ir::kNone) {
    const auto make = [&b, p, real] { return b.cast(real, b.var(p.integer)); };
    sketch.offer({.type = real, .range = sketch.domain(p.integer), .make = make, .is_discrete = true});
  }
  if (p.settings != ir::kNone) {
    for (int f = 0; f < 2; ++f)
      sketch.offer(
          {.type = real, .range = kDefaultInputDomain, .make = [&b, p, f] { return b.field(b.var(p.settings), f); }});
    for (int c = 0; c < 3; ++c)
      offer_component(
          sketch, real, [&b, p] { return b.field(b.var(p.settings), 2); }, c);
  }
}

}  // namespace

void make_scalar_param(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const auto inputs = add_inputs(sketch, real, 1, 0, 2);
  const Parameters p = add_parameters(sketch, real);
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_parameters(sketch, p, real);

  ExpressionGenerator generator(sketch, real, kMenu);
  ir::Builder& b = sketch.b();
  const ir::VarId value = sketch.let("value", generator.grow(3));
  if (p.flag != ir::kNone) {
    sketch.if_(sketch.read(p.flag), [&] { sketch.assign(value, generator.grow(2)); });
  }
  if (p.integer != ir::kNone && rng.bernoulli(0.5)) {
    const ir::Type integer = b.function().var(p.integer).type;
    const ir::ExprId more = b.op(Op::kGt, {b.var(p.integer), b.literal(integer, std::int64_t{3})});
    sketch.if_({more, {0, 1}}, [&] {
      sketch.assign(value, generator.mul(sketch.read(value), generator.literal({0.3, 0.9})));
    });
  }
  const RangedExpression first = generator.add(generator.grow_in({-4, 4}, 2), sketch.read(value));
  sketch.store(outputs[0], generator.add_unused_leaves(first));
  if (outputs.size() > 1) sketch.store(outputs[1], generator.grow(3));
}

}  // namespace assay::generators
