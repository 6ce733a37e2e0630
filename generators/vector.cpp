// Small vectors of 2 to 4 and more components: arithmetic, products, norms, components read and written, at
// constant and at run-time indices; integer vectors too.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kScalarMenu = {Op::kAdd, Op::kMul, Op::kMul, Op::kSub, Op::kSin};

/// Grows vectors of one type, and scalars from them.
class VectorGenerator {
 public:
  VectorGenerator(KernelSketch& sketch, ir::Type vector)
      : sketch_(sketch), b_(sketch.b()), vector_(vector), scalars_(sketch, vector.component(), kScalarMenu) {}

  RangedExpression grow(int depth);
  /// A scalar computed from vectors: a product, a norm or a component.
  RangedExpression reduce(int depth);
  /// The term with every component mapped into [-bound, bound].
  RangedExpression within(RangedExpression term, double bound);
  RangedExpression leaf() {
    const auto term = sketch_.leaf(vector_);
    return term ? *term : constant({-2, 2});
  }
  /// Offers one component of a vector as an optional scalar leaf.
  void offer_component(std::function<ir::ExprId()> make, Interval range);
  /// v[c] = x for a constant component, or a loop over all of them.
  void write_components(ir::VarId variable);
  ExpressionGenerator& scalars() { return scalars_; }

 private:
  RangedExpression constant(Interval interval);
  RangedExpression from_components(int depth);
  RangedExpression positive();
  RangedExpression scalar(Interval target) { return scalars_.fit(scalars_.leaf(), target); }
  RangedExpression elementwise(Op op, RangedExpression a, RangedExpression b);

  KernelSketch& sketch_;
  ir::Builder& b_;
  ir::Type vector_;
  ExpressionGenerator scalars_;
};

void VectorGenerator::offer_component(std::function<ir::ExprId()> make, Interval range) {
  const int component = sketch_.rng().uniform_int(0, vector_.rows - 1);
  sketch_.offer({.type = vector_.component(),
                 .range = range,
                 .make =
                     [this, make = std::move(make), component] {
                       const ir::ExprId whole = make();
                       return b_.op(Op::kExtract, {whole, b_.i32(component)});
                     },
                 .use_count = 1});
}

double greatest(Interval range) { return std::max(std::abs(range.low), std::abs(range.high)); }

RangedExpression VectorGenerator::constant(Interval interval) {
  std::vector<ir::ExprId> components;
  for (int c = 0; c < vector_.rows; ++c)
    components.push_back(scalars_.literal(interval).expr);
  return {b_.make(vector_, components), interval};
}

RangedExpression VectorGenerator::within(RangedExpression term, double bound) {
  const double most = greatest(term.range);
  if (most <= bound) return term;
  double factor = truncate_to_two_digits(bound / most);
  const ir::Expr product = b_.function().expr(term.expr);
  const bool is_product = product.kind == ir::ExprKind::kOperation && product.op == Op::kMul;
  if (is_product && b_.function().expr(product.args[1]).kind == ir::ExprKind::kLiteral) {
    // Merge two consecutive factors.
    const double old = std::bit_cast<double>(b_.function().expr(product.args[1]).bits);
    factor = truncate_to_two_digits(old * factor) / old;
    return {b_.op(Op::kMul, {product.args[0], b_.literal(vector_.component(), old * factor)}),
            {term.range.low * factor, term.range.high * factor}};
  }
  return {b_.op(Op::kMul, {term.expr, b_.literal(vector_.component(), factor)}),
          {term.range.low * factor, term.range.high * factor}};
}

RangedExpression VectorGenerator::elementwise(Op op, RangedExpression a, RangedExpression b) {
  // x - x is exactly zero, where a norm has no derivative.
  if (op == Op::kSub && scalars_.same_tree(a.expr, b.expr)) op = Op::kAdd;
  const Interval ranges[] = {a.range, b.range};
  return within({b_.op(op, {a.expr, b.expr}), range_of(op, ranges)}, 8);
}

RangedExpression VectorGenerator::from_components(int depth) {
  std::vector<ir::ExprId> components;
  for (int c = 0; c < vector_.rows; ++c)
    components.push_back(scalars_.grow(std::min(depth, 1)).expr);
  return {b_.make(vector_, components), kModerateRange};
}

/// A vector whose components are all at least 0.5.
RangedExpression VectorGenerator::positive() {
  if (sketch_.rng().bernoulli(0.4)) return constant({0.5, 2});
  const auto is_variable = [&](const AvailableOperand& leaf) {
    return leaf.type == vector_ && leaf.variable != ir::kNone;
  };
  const auto found = std::ranges::find_if(sketch_.leaves(), is_variable);
  if (found == sketch_.leaves().end()) return constant({0.5, 2});
  ++found->use_count;
  const double most = greatest(sketch_.domain(found->variable));
  const ir::ExprId square = b_.op(Op::kCwMul, {found->make(), found->make()});
  return {b_.op(Op::kAdd, {square, constant({0.5, 1}).expr}), {0.5, most * most + 1}};
}

RangedExpression VectorGenerator::grow(int depth) {
  Rng& rng = sketch_.rng();
  if (depth <= 0 || rng.bernoulli(0.1)) return leaf();
  const Op op = rng.choose({Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kDiv, Op::kNeg, Op::kCross, Op::kCwMul,
                            Op::kCwDiv, Op::kNormalize, Op::kMake, Op::kSplat, Op::kWhere});
  switch (op) {
    case Op::kMul: {
      const RangedExpression v = grow(depth - 1);
      const RangedExpression s = rng.bernoulli(0.5) ? scalar({-2, 2}) : scalars_.fit(reduce(depth - 2), {-2, 2});
      const bool scalar_first = rng.bernoulli(0.5);
      const Interval ranges[] = {v.range, s.range};
      const ir::ExprId product = scalar_first ? b_.op(op, {s.expr, v.expr}) : b_.op(op, {v.expr, s.expr});
      return within({product, range_of(op, ranges)}, 8);
    }
    case Op::kDiv: {
      const RangedExpression v = grow(depth - 1);
      return elementwise(op, v, scalar({0.5, 4}));
    }
    case Op::kNeg: {
      const RangedExpression v = leaf();
      return {b_.op(op, {v.expr}), {-v.range.high, -v.range.low}};
    }
    case Op::kCross: {
      if (vector_.rows != 3) return from_components(depth);
      const RangedExpression a = grow(depth - 1);
      // A constant added to one side: x cross x would be exactly zero, where a norm has no derivative.
      const RangedExpression other = grow(depth - 2);
      const RangedExpression b = elementwise(Op::kAdd, other, constant({0.25, 1.5}));
      const double bound = 2 * greatest(a.range) * greatest(b.range);
      return within({b_.op(op, {a.expr, b.expr}), {-bound, bound}}, 8);
    }
    case Op::kCwDiv: {
      const RangedExpression v = grow(depth - 1);
      return elementwise(op, v, positive());
    }
    case Op::kNormalize: return {b_.op(op, {grow(depth - 1).expr}), {-1, 1}};
    case Op::kMake: return from_components(depth);
    case Op::kSplat: {
      const RangedExpression s = sketch_.leaf(vector_.component()).value_or(scalars_.literal({-2, 2}));
      return {b_.op(op, {s.expr}, vector_), s.range};
    }
    case Op::kWhere: {
      const RangedExpression test = scalars_.condition(1);
      const RangedExpression a = grow(depth - 1);
      const RangedExpression b = leaf();
      const Op select = rng.bernoulli(0.5) ? Op::kWhere : Op::kConditional;
      return {b_.op(select, {test.expr, a.expr, b.expr}), hull(a.range, b.range)};
    }
    default: {
      const RangedExpression a = grow(depth - 1);
      return elementwise(op, a, grow(depth - 2));
    }
  }
}

RangedExpression VectorGenerator::reduce(int depth) {
  Op op = sketch_.rng().choose({Op::kDot, Op::kDot, Op::kLength, Op::kLengthSquared, Op::kExtract, Op::kExtract});
  const RangedExpression v = within(grow(depth), 4);
  const bool has_norm_one = b_.function().expr(v.expr).op == Op::kNormalize;
  if (has_norm_one && (op == Op::kLength || op == Op::kLengthSquared)) op = Op::kDot;
  const double square = vector_.rows * greatest(v.range) * greatest(v.range);
  if (op == Op::kLength) return {b_.op(op, {v.expr}), {0, std::ceil(std::sqrt(square))}};
  if (op == Op::kLengthSquared) return {b_.op(op, {v.expr}), {0, square}};
  if (op == Op::kExtract) {
    const ir::ExprId component = b_.i32(sketch_.rng().uniform_int(0, vector_.rows - 1));
    return {b_.op(op, {v.expr, component}), v.range};
  }
  const RangedExpression other = within(grow(depth - 1), 4);
  const double bound = vector_.rows * greatest(v.range) * greatest(other.range);
  return {b_.op(op, {v.expr, other.expr}), {-bound, bound}};
}

void VectorGenerator::write_components(ir::VarId variable) {
  const auto set = [&](const std::function<ir::ExprId()>& index, RangedExpression value) {
    sketch_.assign(variable, {b_.op(Op::kInsert, {b_.var(variable), index(), value.expr}), kModerateRange});
  };
  if (sketch_.rng().bernoulli(0.5)) {
    const int component = sketch_.rng().uniform_int(0, vector_.rows - 1);
    set([&] { return b_.i32(component); }, scalars_.grow(2));
    return;
  }
  sketch_.set_range(variable, kModerateRange);
  sketch_.add_for_loop("c", b_.i32(0), b_.i32(vector_.rows), b_.i32(1), {0, vector_.rows - 1.0}, [&](ir::VarId c) {
    const ir::ExprId old = b_.op(Op::kExtract, {b_.var(variable), b_.var(c)});
    const RangedExpression half = scalars_.mul({old, kModerateRange}, scalars_.literal({0.3, 0.5}));
    set([&] { return b_.var(c); }, scalars_.add(half, scalars_.grow_in({-4, 4}, 1)));
  });
}

/// A scalar computed from a vector by a function of Warp's library. The vector is an input plus a constant: components
/// of other vectors may be equal, where the extremes have no derivative.
RangedExpression library_production(KernelSketch& sketch, VectorGenerator& generator, ir::VarId input, Rng& rng) {
  ir::Builder& b = sketch.b();
  const ir::Type vector = b.function().var(input).type.element();
  const ir::Type scalar = vector.component();
  const auto draw = [&](double low, double high) {
    std::vector<double> values(static_cast<std::size_t>(vector.rows));
    for (double& value : values)
      value = truncate_to_two_digits(rng.uniform_real(low, high));
    return values;
  };
  const auto constant = [&](const std::vector<double>& values) {
    std::vector<ir::ExprId> components;
    for (const double value : values)
      components.push_back(b.literal(scalar, value));
    return b.make(vector, components);
  };
  const auto literals = [&](double low, double high) { return constant(draw(low, high)); };
  const std::vector<double> shift = draw(0.1, 0.9);
  const auto moved = [&] { return b.op(Op::kAdd, {b.load(input, sketch.thread_indices()), constant(shift)}); };
  const auto delta = [&] { return b.literal(scalar, truncate_to_two_digits(rng.uniform_real(0.5, 2))); };
  const auto sum = [&](ir::ExprId made) { return b.op(Op::kDot, {made, literals(0.2, 0.9)}); };
  // Warp defines the other norms for float32 only.
  const std::string_view name =
      scalar.scalar == ir::Scalar::kF32
          ? rng.choose<std::string_view>({"min", "max", "argmin", "argmax", "abs", "sign", "norm_l1", "norm_l2",
                                          "norm_huber", "norm_pseudo_huber", "smooth_normalize", "lerp"})
          : rng.choose<std::string_view>({"min", "max", "argmin", "argmax", "abs", "sign", "norm_l2", "lerp"});
  std::vector<ir::ExprId> operands{moved()};
  const bool is_extreme = name == "min" || name == "max";
  const bool has_delta =
      name.starts_with("norm_huber") || name.starts_with("norm_pseudo") || name == "smooth_normalize";
  if (is_extreme && rng.bernoulli(0.5)) operands.push_back(literals(-0.9, 0.9));
  if (has_delta && rng.bernoulli(0.5)) operands.push_back(delta());
  if (name == "lerp") operands.insert(operands.end(), {literals(-0.9, 0.9), b.literal(scalar, 0.25)});
  const ir::ExprId made = sketch.warp(name, operands);
  const double bound = vector.rows * 9.0;
  if (name.starts_with("arg"))
    return {b.op(Op::kExtract, {b.load(input, sketch.thread_indices()), b.cast(ir::kI32, made)}), {-2, 2}};
  if (name == "sign") return generator.scalars().limit_range({b.op(Op::kDot, {made, moved()}), {0, bound}});
  return generator.scalars().limit_range({b.type_of(made).is_scalar() ? made : sum(made), {-bound, bound}});
}

/// The closest points of two segments, or whether two triangles intersect. Segments and triangles have an input as one
/// corner; the segments are far from parallel.
void meet(KernelSketch& sketch, const std::vector<ir::VarId>& inputs, Rng& rng) {
  ir::Builder& b = sketch.b();
  const ir::Type point = b.function().var(inputs[0]).type.element();
  const auto own = [&](std::size_t k) { return b.load(inputs[k % inputs.size()], sketch.thread_indices()); };
  const auto moved = [&](std::size_t k, double x, double y, double z) {
    const auto near = [&](double value) { return b.f32(truncate_to_two_digits(value + rng.uniform_real(0.05, 0.45))); };
    std::vector<ir::ExprId> shift{near(x), near(y), near(z)};
    return b.op(Op::kAdd, {own(k), b.make(point, std::move(shift))});
  };
  if (rng.bernoulli(0.5)) {
    const std::vector<ir::ExprId> ends{own(0), moved(0, 2, 0, 1), moved(1, 0, 1, -1), moved(1, 0, 3, 1), b.f32(1e-6)};
    const ir::VarId closest = sketch.let("closest", {sketch.warp("closest_point_edge_edge", ends), {-12, 12}});
    sketch.offer({.type = ir::kF32, .range = {-12, 12}, .make = [&b, closest] {
                    return b.op(Op::kExtract, {b.var(closest), b.i32(2)});
                  }});
    return;
  }
  const std::vector<ir::ExprId> corners{
      own(0), moved(0, 2, 0, 1), moved(0, 0, 2, -1), moved(1, 0, 1, -1), moved(1, 1, 2, 1), moved(1, -1, 0, 1)};
  const ir::ExprId meets = b.op(Op::kEq, {sketch.warp("intersect_tri_tri", corners), b.i32(1)});
  const ir::ExprId weight = b.op(Op::kWhere, {meets, b.f32(1.5), b.f32(0.5)});
  sketch.let("contact",
             {b.op(Op::kMul, {weight, b.op(Op::kExtract, {own(0), b.i32(rng.uniform_int(0, 2))})}), {-3, 3}});
}

/// Integer vectors: sums, products by components and by scalars, dot, components.
void integer_vectors(KernelSketch& sketch, ir::VarId cells, ir::VarId output) {
  Rng& rng = sketch.rng();
  ir::Builder& b = sketch.b();
  const ir::Type vector = b.function().var(cells).type.element();
  const auto cell = [&] { return b.load(cells, sketch.thread_indices()); };
  const ir::ExprId scaled =
      b.op(Op::kMul, {cell(), b.literal(vector.component(), rng.uniform_int<std::int64_t>(2, 5))});
  const ir::ExprId other = rng.bernoulli(0.5) ? b.op(Op::kNeg, {cell()}) : b.op(Op::kCwMul, {cell(), cell()});
  const ir::VarId sum = sketch.let("cell", {b.op(Op::kAdd, {scaled, other}), kModerateRange});
  const ir::ExprId product = b.op(Op::kDot, {b.var(sum), cell()});
  b.assign(sum, b.op(Op::kInsert, {b.var(sum), b.i32(rng.uniform_int(0, vector.rows - 1)), product}));
  b.store(output, sketch.thread_indices(), b.var(sum));
}

}  // namespace

void make_vector(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const int length = rng.bernoulli(0.45) ? 3 : rng.choose({2, 2, 4, 4, 5, 6, 8});
  const ir::Type vector = vector_type(real.scalar, length);
  const bool integers = rng.bernoulli(0.2);
  const ir::Type cell_type = vector_type(rng.bernoulli(0.7) ? ir::Scalar::kI32 : ir::Scalar::kI64, length);

  const auto vectors = add_inputs(sketch, vector, 1, 1, 3);
  const auto reals = add_inputs(sketch, real, 1, 0, 1);
  const auto parameters = add_scalar_parameters(sketch, rng.bernoulli(0.5) ? vector : real, 0, 1);
  const ir::VarId cells = integers ? sketch.array("cells", cell_type, 1, {-9, 9}) : ir::kNone;
  const bool vector_output = rng.bernoulli(0.7);
  const ir::VarId out = vector_output ? sketch.output("out", vector) : ir::kNone;
  const ir::VarId energy = !vector_output || rng.bernoulli(0.5) ? sketch.output("energy", real) : ir::kNone;
  const ir::VarId neighbors = integers ? sketch.output("neighbours", cell_type) : ir::kNone;
  sketch.start();
  offer_arrays(sketch, vectors);
  offer_arrays(sketch, reals);
  offer_variables(sketch, parameters);
  maybe_guard(sketch, vectors[0]);

  VectorGenerator generator(sketch, vector);
  for (const ir::VarId array : vectors)
    generator.offer_component([&sketch, array] { return sketch.element(array, sketch.thread_indices()).expr; },
                              kDefaultInputDomain);
  const ir::VarId v = sketch.let("v", generator.grow(2));
  if (rng.bernoulli(0.6)) sketch.let("d", generator.scalars().limit_range(generator.reduce(2)));
  if (rng.bernoulli(0.5)) generator.write_components(v);
  if (rng.bernoulli(0.4)) {
    const RangedExpression doubled = sketch.read(v);
    const RangedExpression change = generator.within(generator.grow(1), 4);
    const RangedExpression kept = generator.within(doubled, 4);
    sketch.assign(v, {sketch.b().op(Op::kAdd, {kept.expr, change.expr}), kModerateRange});
  }
  Rng library = rng.split("library");
  if (library.bernoulli(0.8)) sketch.let("size", library_production(sketch, generator, vectors[0], library));
  const bool is_point = vector == ir::vector_type(ir::Scalar::kF32, 3);
  if (is_point && library.bernoulli(0.5)) meet(sketch, vectors, library);
  if (integers) integer_vectors(sketch, cells, neighbors);

  // Unused vectors are added by their dot product with v, unused scalars by a multiple.
  RangedExpression total = generator.scalars().limit_range(generator.reduce(2));
  for (AvailableOperand& leaf : sketch.leaves()) {
    if (leaf.type != vector || leaf.use_count > 0) continue;
    ++leaf.use_count;
    const double bound = length * 8 * greatest(leaf.range);
    const ir::ExprId unused = leaf.make();
    const RangedExpression product{sketch.b().op(Op::kDot, {unused, sketch.b().var(v)}), {-bound, bound}};
    total = generator.scalars().add(total, product);
  }
  total = generator.scalars().add_unused_leaves(total);
  if (energy != ir::kNone) {
    sketch.store(energy, total);
    if (out != ir::kNone) sketch.store(out, generator.grow(2));
    return;
  }
  const RangedExpression direction = generator.within(sketch.read(v), 4);
  const RangedExpression size = generator.scalars().fit(total, {-2, 2});
  sketch.store(out, {sketch.b().op(Op::kMul, {direction.expr, size.expr}), kModerateRange});
}

}  // namespace assay::generators
