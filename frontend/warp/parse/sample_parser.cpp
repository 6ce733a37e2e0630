// The part of WarpExpressionParser that parses random points of shapes and Poisson's distribution, made of uniform
// numbers (random_parser.cpp). Each number is stored in a variable, because the next draw changes the state.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::Op;
using ir::VarId;
using ir::algebra::E;
using ir::algebra::like;
namespace algebra = ir::algebra;

namespace {

const ir::Type kCount = scalar_type(ir::Scalar::kU32);
constexpr ir::Type kVec2 = ir::vector_type(ir::Scalar::kF32, 2);
constexpr ir::Type kVec3 = ir::vector_type(ir::Scalar::kF32, 3);

E root(E x) { return algebra::call(Op::kSqrt, x); }
E logarithm(E x) { return algebra::call(Op::kLog, x); }

/// The point at polar angle phi and azimuth theta.
E on_sphere(E phi, E theta) {
  const E sine = algebra::call(Op::kSin, phi);
  return algebra::make(kVec3, {algebra::call(Op::kCos, theta) * sine, algebra::call(Op::kSin, theta) * sine,
                               algebra::call(Op::kCos, phi)});
}

/// The logarithm of the gamma function at x >= 1 by Stirling's series, as in "Computation of Special Functions" (S.
/// Zhang, J. Jin, 1996): arguments below 7 are increased by a whole number first.
VarId log_gamma(ir::Builder& b, VarId x) {
  constexpr std::array<double, 10> kSeries = {8.333333333333333e-02,  -2.777777777777778e-03, 7.936507936507937e-04,
                                              -5.952380952380952e-04, 8.417508417508418e-04,  -1.917526917526918e-03,
                                              6.410256410256410e-03,  -2.955065359477124e-02, 1.796443723688307e-01,
                                              -1.39243221690590e+00};
  constexpr double kLogOfTurn = 1.8378770664093453;
  const auto value = [&](VarId variable) { return E{&b, b.var(variable)}; };
  const VarId result = b.let("log_gamma", b.f32(0));
  const E is_one = algebra::call(Op::kEq, value(x), like(value(x), 1));
  const E is_two = algebra::call(Op::kEq, value(x), like(value(x), 2));
  b.if_(algebra::call(Op::kNot, algebra::either(is_one, is_two)).id, [&] {
    const VarId steps = b.let("steps", b.i32(0));
    b.if_((value(x) < like(value(x), 7)).id, [&] { b.assign(steps, b.cast(ir::kI32, (7.0 - value(x)).id)); });
    const VarId moved = b.let("moved", (value(x) + E{&b, b.cast(ir::kF32, b.var(steps))}).id);
    const VarId inverse = b.let("inverse", (like(value(moved), 1) / value(moved)).id);
    const VarId square = b.let("square", (value(inverse) * value(inverse)).id);
    const VarId series = b.let("series", b.f32(kSeries.back()));
    for (auto term = kSeries.rbegin() + 1; term != kSeries.rend(); ++term)
      b.assign(series, (value(series) * value(square) + like(value(series), *term)).id);
    const E half_log = 0.5 * like(value(moved), kLogOfTurn);
    b.assign(
        result,
        (value(series) / value(moved) + half_log + (value(moved) - 0.5) * logarithm(value(moved)) - value(moved)).id);
    b.for_("step", b.i32(0), b.var(steps), b.i32(1), [&](VarId) {
      b.assign(moved, (value(moved) - 1.0).id);
      b.assign(result, (value(result) - logarithm(value(moved))).id);
    });
  });
  return result;
}

}  // namespace

bool is_shape_sampler(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "sample_triangle",    "sample_unit_ring",           "sample_unit_disk",
      "sample_unit_sphere", "sample_unit_sphere_surface", "sample_unit_hemisphere",
      "sample_unit_square", "sample_unit_cube",           "sample_unit_hemisphere_surface"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// A point of the shape, in the order of Warp's draws.
ExprId WarpExpressionParser::point_of_shape(VarId state, std::string_view shape) {
  ir::Builder& b = context_.builder;
  const auto draw = [&] { return E{&b, b.var(b.let("drawn", uniform(state, {})))}; };
  const auto angle = [&] { return E{&b, b.var(b.let("theta", uniform(state, {b.f32(0), b.f32(kFloat32TwoPi)})))}; };
  if (shape == "sample_triangle") {
    const E r{&b, b.var(b.let("r", root(draw()).id))};
    return algebra::make(kVec2, {1.0 - r, draw() * r}).id;
  }
  if (shape == "sample_unit_ring" || shape == "sample_unit_disk") {
    const bool is_disk = shape == "sample_unit_disk";
    const E r = is_disk ? E{&b, b.var(b.let("r", root(draw()).id))} : E{&b, b.f32(1)};
    const E theta = angle();
    const E x = algebra::call(Op::kCos, theta);
    const E y = algebra::call(Op::kSin, theta);
    return algebra::make(kVec2, is_disk ? std::vector<E>{r * x, r * y} : std::vector<E>{x, y}).id;
  }
  if (shape == "sample_unit_square" || shape == "sample_unit_cube") {
    std::vector<E> components;
    for (int k = 0; k < (shape == "sample_unit_square" ? 2 : 3); ++k)
      components.push_back(draw() - 0.5);
    return algebra::make(components.size() == 2 ? kVec2 : kVec3, components).id;
  }
  const bool is_half = shape.find("hemisphere") != std::string_view::npos;
  const E height = 1.0 - (is_half ? draw() : 2.0 * draw());
  const E phi{&b, b.var(b.let("phi", algebra::call(Op::kAcos, height).id))};
  const E theta = angle();
  if (shape.ends_with("surface")) return on_sphere(phi, theta).id;
  const E third{&b, b.f32(1.0 / 3)};
  const E r{&b, b.var(b.let("r", algebra::call(Op::kPow, draw(), third).id))};
  const E sine = algebra::call(Op::kSin, phi);
  return algebra::make(kVec3, {r * algebra::call(Op::kCos, theta) * sine, r * algebra::call(Op::kSin, theta) * sine,
                               r * algebra::call(Op::kCos, phi)})
      .id;
}

/// wp.sample_cdf(state, cdf): the place of a uniform number in the array.
ExprId WarpExpressionParser::sample_of_distribution(SyntaxNode node, std::span<const SyntaxNode> given) {
  if (given.size() != 2) return context_.error(node, "expected the random generator state and an array");
  const VarId state = state_variable(given[0]);
  if (state == ir::kNone) return ir::kNone;
  const std::size_t loads_before = context_.loaded_arrays.size();
  const AssignmentTarget cdf = searched(given[1]);
  if (cdf.failed()) return ir::kNone;
  if (cdf.type.element() != ir::kF32) {
    return context_.error(
        given[1], fmt::format("array elements must be float32, got {}", context_.type_name(cdf.type.element())));
  }
  if (!can_evaluate_effect(node, loads_before, state)) return ir::kNone;
  context_.builder.at(node.loc());
  const VarId drawn = context_.builder.let("drawn", uniform(state, {}));
  const ExprId found = search_position(node, cdf, {}, context_.builder.var(drawn));
  return context_.builder.var(context_.builder.let("found", found));
}

/// Counts the uniform numbers whose product exceeds exp(-mean).
void WarpExpressionParser::poisson_by_product(VarId state, VarId mean, VarId count) {
  ir::Builder& b = context_.builder;
  const VarId limit = b.let("limit", algebra::call(Op::kExp, -E{&b, b.var(mean)}).id);
  const VarId product = b.let("product", b.f32(1));
  b.while_(b.boolean(true), [&] {
    const ExprId drawn = uniform(state, {});
    b.assign(product, b.op(Op::kMul, {b.var(product), drawn}));
    b.if_(b.op(Op::kLe, {b.var(product), b.var(limit)}), [&] { b.break_(); });
    b.assign(count, b.op(Op::kAdd, {b.var(count), b.literal(kCount, std::int64_t{1})}));
  });
}

/// W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993.
void WarpExpressionParser::poisson_by_rejection(VarId state, VarId mean, VarId count) {
  ir::Builder& b = context_.builder;
  const auto let = [&](const char* name, E x) { return b.let(name, x.id); };
  const auto value = [&](VarId variable) { return E{&b, b.var(variable)}; };
  const VarId slope = let("slope", like(value(mean), 0.931) + 2.53 * root(value(mean)));
  const VarId width = let("width", like(value(mean), -0.059) + 0.02483 * value(slope));
  const VarId scale = let("scale", like(value(mean), 1.1239) + like(value(mean), 1.1328) / (value(slope) - 3.4));
  const VarId certain = let("certain", 0.9277 - like(value(mean), 3.6224) / (value(slope) - 2.0));
  b.while_(b.boolean(true), [&] {
    const VarId u = b.let("u", uniform(state, {}));
    b.assign(u, (value(u) - 0.5).id);
    const VarId v = b.let("v", uniform(state, {}));
    const VarId room = let("room", 0.5 - algebra::call(Op::kAbs, value(u)));
    const E raw = (2.0 * value(width) / value(room) + value(slope)) * value(u) + value(mean) + like(value(mean), 0.43);
    const VarId k = let("k", algebra::call(Op::kFloor, raw));
    const auto accept = [&] {
      b.assign(count, b.cast(kCount, b.var(k)));
      b.break_();
    };
    const E is_certain = algebra::call(Op::kAnd, algebra::call(Op::kGe, value(room), like(value(room), 0.07)),
                                       algebra::call(Op::kLe, value(v), value(certain)));
    b.if_(is_certain.id, accept);
    const E is_outside = algebra::call(Op::kAnd, value(room) < like(value(room), 0.013), value(v) > value(room));
    b.if_(algebra::either(value(k) < like(value(k), 0), is_outside).id, [&] { b.continue_(); });
    const VarId next = let("next", value(k) + like(value(k), 1));
    const VarId gamma = log_gamma(b, next);
    const E density = logarithm(value(v)) + logarithm(value(scale)) -
                      logarithm(value(width) / (value(room) * value(room)) + value(slope));
    const E wanted = -value(mean) + value(k) * logarithm(value(mean)) - value(gamma);
    b.if_(algebra::call(Op::kLe, density, wanted).id, accept);
  });
}

ExprId WarpExpressionParser::poisson(VarId state, ExprId given) {
  ir::Builder& b = context_.builder;
  const VarId mean = b.let("mean", given);
  const VarId count = b.let("count", b.literal(kCount, std::int64_t{0}));
  b.if_(
      b.op(Op::kGe, {b.var(mean), b.f32(10)}), [&] { poisson_by_rejection(state, mean, count); },
      [&] {
        b.if_(b.op(Op::kNe, {b.var(mean), b.f32(0)}), [&] { poisson_by_product(state, mean, count); });
      });
  return b.var(count);
}

}  // namespace assay::frontend
