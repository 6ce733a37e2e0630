// Quaternions: products, rotations of vectors, inverses, interpolation, to and from matrices, axis and angle, roll,
// pitch and yaw; components read and written.
#include <iterator>
#include <utility>

#include "generators/algebra.hpp"
#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::ExprId;
using ir::Op;
using ir::Type;

struct Types {
  Type real;
  Type quat;
  Type vector;  ///< of 3
  Type matrix;  ///< 3 x 3

  explicit Types(Type scalar)
      : real(scalar),
        quat(ir::quaternion_type(scalar.scalar)),
        vector(ir::vector_type(scalar.scalar, 3)),
        matrix(ir::matrix_type(scalar.scalar, 3, 3)) {}
};

/// wp.normalize(q + constant): the length is never zero.
Production unit(const Types& t) {
  return {t.quat, {{t.quat, 1}}, 1, [t](KernelSketch& sketch, const std::vector<ExprId>& args) {
            ir::Builder& b = sketch.b();
            const double w = sketch.rng().uniform_int(10, 16) * 0.25;
            const ExprId away = b.make(t.quat, {b.literal(t.real, 0.25), b.literal(t.real, -0.5),
                                                b.literal(t.real, 0.0), b.literal(t.real, w)});
            return sketch.warp("normalize", {b.op(Op::kAdd, {args[0], away})});
          }};
}

std::vector<Production> quaternions(const Types& t) {
  return {
      unit(t),
      operation_production(Op::kMul, t.quat, {{t.quat, 1.4}, {t.quat, 1.4}}, 8),
      operation_production(Op::kMul, t.quat, {{t.quat, 1.4}, {t.quat, 1.4}}, 8),
      operation_production(Op::kQuatInverse, t.quat, {{t.quat, 8}}, 8),
      library_production("quat_from_axis_angle", t.quat, {{t.vector, 2}, {t.real, 3}}, 2),
      library_production("quat_rpy", t.quat, {{t.real, 3}, {t.real, 3}, {t.real, 3}}, 2),
      library_production("quat_from_matrix", t.quat, {{t.matrix, 1.5}}, 1),
      library_production("lerp", t.quat, {{t.quat, 2}, {t.quat, 2}, {t.real, 1}}, 8),
      constructor_production(t.quat, {{t.vector, 4}, {t.real, 4}}),
      // Between quaternions near two distinct ones, so that the arc is neither zero nor half a turn.
      {t.quat,
       {{t.quat, 0.2}, {t.quat, 0.2}, {t.real, 1}},
       3,
       [t](KernelSketch& sketch, const std::vector<ExprId>& args) {
         ir::Builder& b = sketch.b();
         const auto near = [&](ExprId q, double x, double w) {
           const ExprId middle = b.make(
               t.quat, {b.literal(t.real, x), b.literal(t.real, 0.25), b.literal(t.real, 0.0), b.literal(t.real, w)});
           return b.op(Op::kAdd, {q, middle});
         };
         const ExprId from = near(args[0], 0.75, 1.0);
         return sketch.warp("quat_slerp", {from, near(args[1], -0.5, 1.25), args[2]});
       }},
  };
}

std::vector<Production> others(const Types& t) {
  return {
      library_production("quat_rotate", t.vector, {{t.quat, 1}, {t.vector, 1}}, 12),
      library_production("quat_rotate_inv", t.vector, {{t.quat, 1}, {t.vector, 1}}, 12),
      library_production("quat_rotate", t.vector, {{t.quat, 1}, {t.vector, 1}}, 12),
      operation_production(Op::kCross, t.vector, {{t.vector, 2}, {t.vector, 2}}, 8),
      operation_production(Op::kMul, t.vector, {{t.matrix, 1.5}, {t.vector, 1.5}}, 7),
      library_production("quat_to_matrix", t.matrix, {{t.quat, 1}}, 5),
      library_production("quat_to_matrix", t.matrix, {{t.quat, 1}}, 5),
      operation_production(Op::kDot, t.real, {{t.quat, 1.4}, {t.quat, 1.4}}, 8),
      operation_production(Op::kDot, t.real, {{t.vector, 1.6}, {t.vector, 1.6}}, 8),
      operation_production(Op::kLengthSquared, t.real, {{t.quat, 1.4}}, 8),
      {t.real,
       {{t.quat, 1}},
       8,
       [t](KernelSketch& sketch, const std::vector<ExprId>& args) {
         ir::Builder& b = sketch.b();
         const ExprId one = b.make(
             t.quat, {b.literal(t.real, 0.0), b.literal(t.real, 0.0), b.literal(t.real, 0.0), b.literal(t.real, 2.5)});
         return b.op(Op::kLength, {b.op(Op::kAdd, {args[0], one})});
       }},
      operation_production(Op::kMul, t.real, {{t.real, 4}, {t.real, 2}}, 8),
      operation_production(Op::kSin, t.real, {{t.real, 6}}, 1),
  };
}

std::vector<Production> productions(const Types& t) {
  std::vector<Production> all = quaternions(t);
  for (auto more : {others(t), common_productions(t.quat), common_productions(t.vector)})
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

/// A rotation built from an input; the axis is far from zero and from each coordinate axis, the angle far from pi.
ExprId general_turn(KernelSketch& sketch, const Types& t, ir::VarId input) {
  ir::Builder& b = sketch.b();
  const ExprId away = b.make(
      t.quat, {b.literal(t.real, 1.75), b.literal(t.real, -2.0), b.literal(t.real, 1.5), b.literal(t.real, 2.5)});
  const ExprId small = b.op(Op::kMul, {b.load(input, sketch.thread_indices()), b.literal(t.real, 0.25)});
  return sketch.warp("normalize", {b.op(Op::kAdd, {small, away})});
}

/// The axis and angle of a rotation. Comes first, because a call of a function with several results is a statement.
void take_apart(KernelSketch& sketch, const Types& t, ir::VarId input) {
  const ExprId turn = general_turn(sketch, t, input);
  const auto parts = sketch.warp_results("quat_to_axis_angle", {turn}, {"axis", "angle"});
  sketch.set_new_range(parts[0], {-1, 1});
  sketch.set_new_range(parts[1], {0, 3.2});
  for (const ir::VarId part : parts)
    sketch.offer_variable(part);
}

/// Angles of a rotation about given axes, or its part about one axis, in a variable.
void measure_angles(KernelSketch& sketch, const Types& t, ir::VarId input, Rng& rng) {
  ir::Builder& b = sketch.b();
  const auto literals = [&](Type type) {
    std::vector<ExprId> components;
    for (int k = 0; k < type.components(); ++k)
      components.push_back(b.literal(t.real, truncate_to_two_digits(rng.uniform_real(0.3, 0.9))));
    return b.make(type, components);
  };
  const auto axes = [&](std::vector<ExprId> operands) {
    constexpr int kOrders[][3] = {{0, 1, 2}, {2, 0, 1}, {2, 1, 0}, {0, 1, 0}, {1, 2, 1}};
    for (const int axis : rng.choose(kOrders))
      operands.push_back(b.i32(axis));
    return operands;
  };
  const auto name = rng.choose<std::string_view>(
      {"quat_to_euler", "quat_from_euler", "quat_to_rpy", "quat_twist", "quat_twist_angle", "quat_twist_angle_signed"});
  if (name == "quat_from_euler") {
    const ExprId part =
        b.op(Op::kMul, {literals(t.vector),
                        b.op(Op::kExtract, {b.load(input, sketch.thread_indices()), b.i32(rng.uniform_int(0, 3))})});
    sketch.let("turn", {sketch.warp(name, axes({part})), {-2, 2}});
  } else if (name == "quat_to_euler") {
    sketch.let("angles", {sketch.warp(name, axes({general_turn(sketch, t, input)})), {-6.3, 6.3}});
  } else if (name == "quat_to_rpy") {
    sketch.let("angles", {sketch.warp(name, {general_turn(sketch, t, input)}), {-3.2, 3.2}});
  } else {
    // With the signs of the rotation's axis, so that the part along it is far from zero.
    const ExprId signs = b.make(t.vector, {b.literal(t.real, 1.0), b.literal(t.real, -1.0), b.literal(t.real, 1.0)});
    const ExprId axis = b.op(Op::kCwMul, {literals(t.vector), signs});
    const Interval range = name == "quat_twist" ? Interval{-1, 1} : Interval{-6.3, 6.3};
    sketch.let("twist", {sketch.warp(name, {axis, general_turn(sketch, t, input)}), range});
  }
}

}  // namespace

void make_quaternion(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const Types types(choose_float_type(rng));
  std::vector<ir::VarId> inputs = add_inputs(sketch, types.quat, 1, 1, 2);
  for (const Type type : {types.vector, types.vector, types.matrix, types.real}) {
    for (const ir::VarId array : add_inputs(sketch, type, 1, 0, 1))
      inputs.push_back(array);
  }
  const auto parameters = add_scalar_parameters(sketch, rng.bernoulli(0.5) ? types.quat : types.real, 0, 1);
  const Type made = rng.choose({types.quat, types.quat, types.vector, types.matrix});
  const bool has_out = rng.bernoulli(0.7);
  const ir::VarId out = has_out ? sketch.output("out", made) : ir::kNone;
  const ir::VarId energy = sketch.output("energy", types.real);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, parameters);
  maybe_guard(sketch, inputs[0]);
  if (rng.bernoulli(0.2)) take_apart(sketch, types, inputs[0]);
  Rng angles = rng.split("angles");
  // Warp has these functions for float32 only.
  if (types.real == ir::kF32 && angles.bernoulli(0.7)) measure_angles(sketch, types, inputs[0], angles);

  AlgebraGenerator generator(sketch, types.real, productions(types));
  const ir::VarId r = sketch.let("r", generator.grow({types.quat, 8}, 2));
  if (rng.bernoulli(0.6)) sketch.let("d", generator.grow({rng.bernoulli(0.5) ? types.real : types.vector, 8}, 3));
  if (rng.bernoulli(0.4)) generator.write_parts(r);
  if (has_out) sketch.store(out, generator.grow({made, 8}, 3));
  sketch.store(energy, generator.add_unused_leaves(generator.grow({types.real, 8}, 2)));
}

}  // namespace assay::generators
