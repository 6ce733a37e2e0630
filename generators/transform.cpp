// Transforms, spatial vectors and spatial matrices: composed, inverted, applied to points, vectors, twists and
// wrenches, taken apart and put together.
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
  Type transform;
  Type quat;
  Type vector;   ///< of 3
  Type spatial;  ///< of 6
  Type block;    ///< 3 x 3
  Type matrix;   ///< 6 x 6
  Type homogeneous;

  explicit Types(Type scalar)
      : real(scalar),
        transform(ir::transform_type(scalar.scalar)),
        quat(ir::quaternion_type(scalar.scalar)),
        vector(ir::vector_type(scalar.scalar, 3)),
        spatial(ir::vector_type(scalar.scalar, 6)),
        block(ir::matrix_type(scalar.scalar, 3, 3)),
        matrix(ir::matrix_type(scalar.scalar, 6, 6)),
        homogeneous(ir::matrix_type(scalar.scalar, 4, 4)) {}
};

/// wp.transform_from_matrix of a matrix near a diagonal one in which the trace or one diagonal element is well above
/// the others: its branches compare these, and they would tie for the matrix of a tiny rotation or of q* q.
Production from_matrix(const Types& t) {
  return {t.transform, {{t.homogeneous, 0.15}}, 1.5, [t](KernelSketch& sketch, const std::vector<ExprId>& args) {
            constexpr double kDiagonals[][3] = {{1, 0.75, 0.5}, {1, -0.5, -0.75}, {-0.5, 1, -0.75}, {-0.5, -0.75, 1}};
            const auto& diagonal = sketch.rng().choose(kDiagonals);
            ir::Builder& b = sketch.b();
            std::vector<ExprId> components;
            for (int k = 0; k < 16; ++k)
              components.push_back(b.literal(t.real, k % 5 == 0 && k < 15 ? diagonal[k / 5] : 0.0));
            return sketch.warp("transform_from_matrix", {b.op(Op::kAdd, {args[0], b.make(t.homogeneous, components)})});
          }};
}

std::vector<Production> transforms(const Types& t) {
  return {
      library_production("transform_multiply", t.transform, {{t.transform, 1}, {t.transform, 1}}, 13),
      library_production("mul", t.transform, {{t.transform, 1}, {t.transform, 1}}, 13),
      library_production("transform_inverse", t.transform, {{t.transform, 1}}, 12),
      library_production("lerp", t.transform, {{t.transform, 2}, {t.transform, 2}, {t.real, 1}}, 8),
      constructor_production(t.transform, {{t.vector, 4}, {t.quat, 4}}),
      constructor_production(t.transform, {{t.vector, 4}, {t.quat, 4}}),
      operation_production(Op::kRotation, t.quat, {{t.transform, 8}}, 8),
      operation_production(Op::kMul, t.quat, {{t.quat, 1.4}, {t.quat, 1.4}}, 8),
      library_production("quat_from_axis_angle", t.quat, {{t.vector, 2}, {t.real, 3}}, 2),
      from_matrix(t),
      library_production("transform_to_matrix", t.homogeneous, {{t.transform, 1}}, 5),
  };
}

/// Whether Warp's functions for twists, wrenches and velocities can be called, and spatial vectors made of two vectors:
/// Warp has them for float32 only.
bool has_float32(const Types& t) { return t.real.scalar == ir::Scalar::kF32; }

std::vector<Production> spatial(const Types& t) {
  std::vector<Production> list{
      library_production("spatial_cross", t.spatial, {{t.spatial, 1.4}, {t.spatial, 1.4}}, 8),
      library_production("spatial_cross_dual", t.spatial, {{t.spatial, 1.4}, {t.spatial, 1.4}}, 8),
      operation_production(Op::kMul, t.spatial, {{t.matrix, 1}, {t.spatial, 1}}, 6),
      library_production("spatial_adjoint", t.matrix, {{t.block, 4}, {t.block, 4}}, 4),
      library_production("spatial_adjoint", t.matrix, {{t.block, 4}, {t.block, 4}}, 4),
      operation_production(Op::kOuter, t.matrix, {{t.spatial, 2}, {t.spatial, 2}}, 4),
      library_production("skew", t.block, {{t.vector, 4}}, 4),
      library_production("skew", t.block, {{t.vector, 4}}, 4),
      library_production("quat_to_matrix", t.block, {{t.quat, 1}}, 5),
  };
  if (has_float32(t)) {
    const auto twist = library_production("transform_twist", t.spatial, {{t.transform, 1}, {t.spatial, 1}}, 36);
    const auto wrench = library_production("transform_wrench", t.spatial, {{t.transform, 1}, {t.spatial, 1}}, 36);
    list.insert(list.begin() + 2, {twist, wrench});
    list.insert(list.begin(), constructor_production(t.spatial, {{t.vector, 4}, {t.vector, 4}}));
  }
  return list;
}

std::vector<Production> others(const Types& t) {
  std::vector<Production> list{
      operation_production(Op::kTranslation, t.vector, {{t.transform, 8}}, 8),
      operation_production(Op::kSpatialTop, t.vector, {{t.spatial, 8}}, 8),
      operation_production(Op::kSpatialBottom, t.vector, {{t.spatial, 8}}, 8),
      library_production("transform_point", t.vector, {{t.transform, 1}, {t.vector, 1}}, 13),
      library_production("transform_vector", t.vector, {{t.transform, 1}, {t.vector, 1}}, 12),
      library_production("transform_point", t.vector, {{t.homogeneous, 1.5}, {t.vector, 1.5}}, 9),
      library_production("quat_rotate", t.vector, {{t.quat, 1}, {t.vector, 1}}, 12),
      library_production("spatial_dot", t.real, {{t.spatial, 1.2}, {t.spatial, 1.2}}, 9),
      operation_production(Op::kDot, t.real, {{t.vector, 1.6}, {t.vector, 1.6}}, 8),
      operation_production(Op::kMul, t.real, {{t.real, 4}, {t.real, 2}}, 8),
      operation_production(Op::kSin, t.real, {{t.real, 6}}, 1),
  };
  if (has_float32(t)) {
    const auto velocity = library_production("velocity_at_point", t.vector, {{t.spatial, 1.4}, {t.vector, 1.4}}, 6);
    list.insert(list.begin() + 6, velocity);
  }
  return list;
}

std::vector<Production> productions(const Types& t) {
  std::vector<Production> all = transforms(t);
  for (auto more : {spatial(t), others(t), common_productions(t.transform), common_productions(t.spatial),
                    common_productions(t.vector)})
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

/// A matrix of translation, rotation and scale, and the parts of one: its columns are far from zero, and its trace far
/// above its diagonal elements, which the decomposition compares.
void scale_and_decompose(KernelSketch& sketch, const Types& t, ir::VarId input, Rng& rng) {
  ir::Builder& b = sketch.b();
  const auto pose = [&] { return b.load(input, sketch.thread_indices()); };
  const auto literals = [&](Type type, Interval interval) {
    std::vector<ExprId> components;
    for (int k = 0; k < type.components(); ++k)
      components.push_back(b.literal(t.real, truncate_to_two_digits(rng.uniform_real(interval.low, interval.high))));
    return b.make(type, components);
  };
  const auto scaled = [&](ExprId q) {
    return sketch.warp("transform_compose", {b.op(Op::kTranslation, {pose()}), q, literals(t.vector, {0.5, 2})});
  };
  if (rng.bernoulli(0.5)) {
    const ir::VarId whole = sketch.let("whole", {scaled(b.op(Op::kRotation, {pose()})), {-16, 16}});
    const ExprId moved = sketch.warp(rng.bernoulli(0.5) ? "transform_point" : "transform_vector",
                                     {b.var(whole), literals(t.vector, {0.2, 0.9})});
    sketch.let("moved", {moved, {-50, 50}});
    return;
  }
  const ExprId small = b.op(Op::kMul, {b.op(Op::kRotation, {pose()}), b.literal(t.real, 0.25)});
  const ExprId away = b.make(
      t.quat, {b.literal(t.real, 0.25), b.literal(t.real, -0.5), b.literal(t.real, 0.75), b.literal(t.real, 4.0)});
  const ExprId turn = sketch.warp("normalize", {b.op(Op::kAdd, {small, away})});
  const auto parts = sketch.warp_results("transform_decompose", {scaled(turn)}, {"origin", "rotation", "stretch"});
  const Interval ranges[] = {{-2, 2}, {-1, 1}, {0.25, 3}};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    sketch.set_new_range(parts[k], ranges[k]);
    sketch.offer_variable(parts[k]);
  }
}

}  // namespace

void make_transform(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const Types types(choose_float_type(rng));
  std::vector<ir::VarId> inputs = add_inputs(sketch, types.transform, 1, 1, 2);
  for (const Type type : {types.vector, types.spatial, types.quat, types.real}) {
    for (const ir::VarId array : add_inputs(sketch, type, 1, 0, 1))
      inputs.push_back(array);
  }
  for (const ir::VarId array : add_inputs(sketch, types.matrix, 1, 0, rng.bernoulli(0.3) ? 1 : 0))
    inputs.push_back(array);
  const auto parameters = add_scalar_parameters(sketch, rng.bernoulli(0.5) ? types.transform : types.real, 0, 1);
  const Type made = rng.choose({types.transform, types.transform, types.vector, types.spatial});
  const bool has_out = rng.bernoulli(0.7);
  const ir::VarId out = has_out ? sketch.output("out", made) : ir::kNone;
  const ir::VarId energy = sketch.output("energy", types.real);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, parameters);
  maybe_guard(sketch, inputs[0]);

  Rng scales = rng.split("scales");
  if (scales.bernoulli(0.4)) scale_and_decompose(sketch, types, inputs[0], scales);

  AlgebraGenerator generator(sketch, types.real, productions(types));
  const ir::VarId pose = sketch.let("pose", generator.grow({types.transform, 8}, 2));
  if (rng.bernoulli(0.7)) sketch.let("d", generator.grow({rng.bernoulli(0.5) ? types.spatial : types.vector, 8}, 3));
  if (rng.bernoulli(0.3)) generator.write_parts(pose);
  if (has_out) sketch.store(out, generator.grow({made, 8}, 3));
  sketch.store(energy, generator.add_unused_leaves(generator.grow({types.real, 8}, 2)));
}

}  // namespace assay::generators
