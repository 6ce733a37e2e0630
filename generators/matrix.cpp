// Matrices, square and rectangular: products with matrices and vectors, transpose, determinant, inverse, trace,
// diagonals, rows and components read and written; in part of the kernels integer matrices.
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
  Type square;  ///< n x n
  Type wide;    ///< n x k
  Type tall;    ///< k x n
  Type column;  ///< n
  Type row;     ///< k

  Types(Type scalar, int n, int k)
      : real(scalar),
        square(matrix_type(scalar.scalar, n, n)),
        wide(matrix_type(scalar.scalar, n, k)),
        tall(matrix_type(scalar.scalar, k, n)),
        column(vector_type(scalar.scalar, n)),
        row(vector_type(scalar.scalar, k)) {}
};

void add(std::vector<Production>& all, std::vector<Production> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A multiple of the identity: by itself, or added to a matrix to keep it well away from singular.
ExprId diagonal(KernelSketch& sketch, Type type, double value) {
  std::vector<ExprId> components;
  for (int k = 0; k < type.components(); ++k)
    components.push_back(sketch.b().literal(type.component(), k % (type.cols + 1) == 0 ? value : 0.0));
  return sketch.b().make(type, components);
}

std::vector<Production> products(const Types& t) {
  const double n = t.square.rows;
  const double k = t.wide.cols;
  return {
      operation_production(Op::kMul, t.square, {{t.square, 2}, {t.square, 2}}, 4 * n),
      operation_production(Op::kMul, t.square, {{t.wide, 2}, {t.tall, 2}}, 4 * k),
      operation_production(Op::kMul, t.wide, {{t.square, 2}, {t.wide, 2}}, 4 * n),
      operation_production(Op::kMul, t.column, {{t.square, 2}, {t.column, 2}}, 4 * n),
      operation_production(Op::kMul, t.column, {{t.column, 2}, {t.square, 2}}, 4 * n),
      operation_production(Op::kMul, t.column, {{t.wide, 2}, {t.row, 2}}, 4 * k),
      operation_production(Op::kMul, t.row, {{t.column, 2}, {t.wide, 2}}, 4 * n),
      operation_production(Op::kOuter, t.square, {{t.column, 2}, {t.column, 2}}, 4),
      operation_production(Op::kOuter, t.wide, {{t.column, 2}, {t.row, 2}}, 4),
      operation_production(Op::kTranspose, t.square, {{t.square, 8}}, 8),
      operation_production(Op::kTranspose, t.wide, {{t.tall, 8}}, 8),
      operation_production(Op::kTranspose, t.tall, {{t.wide, 8}}, 8),
      operation_production(Op::kCwMul, t.square, {{t.square, 2}, {t.square, 2}}, 4),
      operation_production(Op::kCwDiv, t.wide, {{t.wide, 4}, {t.wide, 4, true}}, 8),
      library_production("lerp", t.square, {{t.square, 4}, {t.square, 4}, {t.real, 1}}, 12),
  };
}

std::vector<Production> of_square(const Types& t) {
  const double n = t.square.rows;
  std::vector<Production> all{
      library_production("diag", t.square, {{t.column, 8}}, 8),
      library_production("get_diag", t.column, {{t.square, 8}}, 8),
      constructor_production(t.square,
                             std::vector<ComponentBounds>(static_cast<std::size_t>(n), ComponentBounds{t.column, 4})),
      {t.square,
       {},
       2,
       [type = t.square](KernelSketch& sketch, const auto&) {
         return sketch.rng().bernoulli(0.5)
                    ? diagonal(sketch, type, 1)
                    : sketch.b().op(Op::kSplat, {sketch.b().literal(type.component(), 0.5)}, type);
       }},
      {t.square,
       {{t.square, 0.8 / n}},
       2,
       [type = t.square](KernelSketch& sketch, const std::vector<ExprId>& args) {
         const double least = sketch.rng().uniform_int(4, 8) * 0.25;
         return sketch.b().op(Op::kInverse, {sketch.b().op(Op::kAdd, {args[0], diagonal(sketch, type, least)})});
       }},
  };
  all.push_back({t.square, {{t.real, 2}}, 2, [type = t.square](KernelSketch& sketch, const std::vector<ExprId>& args) {
                   return sketch.b().op(Op::kSplat, args, type);
                 }});
  if (t.square.rows == 3) all.push_back(library_production("skew", t.square, {{t.column, 8}}, 8));
  if (t.square.rows != 4) return all;
  const Type point = vector_type(t.real.scalar, 3);
  for (const char* name : {"transform_point", "transform_vector"}) {
    all.push_back(
        {t.real, {{t.square, 2}, {point, 2}}, 42, [name, point](KernelSketch& sketch, const std::vector<ExprId>& args) {
           const ExprId moved = sketch.warp(name, args);
           return sketch.b().op(
               Op::kDot, {moved, sketch.b().op(Op::kSplat, {sketch.b().literal(point.component(), 1.0)}, point)});
         }});
  }
  return all;
}

std::vector<Production> scalars(const Types& t) {
  const double n = t.square.rows;
  const double k = t.wide.cols;
  constexpr double kPermanents[] = {0, 0, 2, 6, 24};
  return {
      library_production("trace", t.real, {{t.square, 4}}, 4 * n),
      {t.real,
       {{t.square, 1}},
       6 * kPermanents[t.square.rows],
       [type = t.square](KernelSketch& sketch, const std::vector<ExprId>& args) {
         // Products of vectors have determinant 0, with the derivative.
         return sketch.warp("determinant", {sketch.b().op(Op::kAdd, {args[0], diagonal(sketch, type, 0.5)})});
       }},
      operation_production(Op::kDoubleDot, t.real, {{t.square, 2}, {t.square, 2}}, 4 * n * n),
      operation_production(Op::kDoubleDot, t.real, {{t.wide, 2}, {t.wide, 2}}, 4 * n * k),
      operation_production(Op::kDot, t.real, {{t.column, 2}, {t.column, 2}}, 4 * n),
      {t.real,
       {{t.wide, 8}},
       8,
       [type = t.wide](KernelSketch& sketch, const std::vector<ExprId>& args) {
         const ExprId row =
             sketch.b().op(Op::kExtract, {args[0], sketch.b().i32(sketch.rng().uniform_int(0, type.rows - 1))});
         return sketch.b().op(Op::kExtract, {row, sketch.b().i32(sketch.rng().uniform_int(0, type.cols - 1))});
       }},
      operation_production(Op::kMul, t.real, {{t.real, 4}, {t.real, 2}}, 8),
      operation_production(Op::kSin, t.real, {{t.real, 6}}, 1),
  };
}

std::vector<Production> productions(const Types& t) {
  std::vector<Production> all = products(t);
  add(all, of_square(t));
  add(all, scalars(t));
  for (const Type type : {t.square, t.wide, t.tall, t.column, t.row})
    add(all, common_productions(type));
  return all;
}

/// counts = scaled or multiplied integer matrices, with one component written.
void integer_matrices(KernelSketch& sketch, ir::VarId cells, ir::VarId output) {
  ir::Builder& b = sketch.b();
  const Type type = b.function().var(cells).type.element();
  const auto cell = [&] { return b.load(cells, sketch.thread_indices()); };
  const ir::ExprId product = b.op(Op::kMul, {cell(), b.op(Op::kTranspose, {cell()})});
  const ir::VarId m = sketch.let("cell", {b.op(Op::kAdd, {product, cell()}), kModerateRange});
  const ExprId row = b.op(Op::kExtract, {b.var(m), b.i32(0)});
  const ExprId trace = sketch.warp("trace", {cell()});
  b.assign(m, b.op(Op::kInsert, {b.var(m), b.i32(0), b.op(Op::kInsert, {row, b.i32(type.cols - 1), trace})}));
  b.store(output, sketch.thread_indices(), b.var(m));
}

/// The singular values or the triangular factor of an input plus a constant, whose singular values are distinct and far
/// from zero. Comes first, because a call of a function with several results is a statement.
void decompose(KernelSketch& sketch, const Types& t, ir::VarId input) {
  ir::Builder& b = sketch.b();
  constexpr double kSmall[] = {4.0, 0.5, -0.75, 1.5};
  constexpr double kLarge[] = {4.0, 0.5, -0.75, 1.25, 3.0, 0.5, -1.0, 0.75, 2.5};
  std::vector<ExprId> components;
  for (int k = 0; k < t.square.components(); ++k)
    components.push_back(b.literal(t.real, t.square.rows == 2 ? kSmall[k] : kLarge[k]));
  const ExprId small = b.op(Op::kMul, {b.load(input, sketch.thread_indices()), b.literal(t.real, 0.25)});
  const ExprId away = b.op(Op::kAdd, {small, b.make(t.square, components)});
  const auto parts = t.square.rows == 2 ? sketch.warp_results("svd2", {away}, {"left", "stretches", "right"})
                                        : sketch.warp_results("qr3", {away}, {"turn", "triangle"});
  for (const ir::VarId part : parts) {
    const bool is_rotation = part == parts.front() || (t.square.rows == 2 && part == parts.back());
    sketch.set_new_range(part, is_rotation ? Interval{-1, 1} : Interval{-8, 8});
    sketch.offer_variable(part);
  }
}

}  // namespace

void make_matrix(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const Type real = choose_float_type(rng);
  const Types types(real, rng.uniform_int(2, 4), rng.choose({2, 3, 3, 4, 5}));
  const bool integers = rng.bernoulli(0.15);
  const Type cell_type = matrix_type(ir::Scalar::kI32, types.square.rows, types.square.rows);

  std::vector<ir::VarId> inputs = add_inputs(sketch, types.square, 1, 1, 2);
  for (const Type type : {types.wide, types.column, types.row, real}) {
    for (const ir::VarId array : add_inputs(sketch, type, 1, 0, 1))
      inputs.push_back(array);
  }
  const auto parameters = add_scalar_parameters(sketch, rng.bernoulli(0.5) ? types.square : real, 0, 1);
  const ir::VarId cells = integers ? sketch.array("cells", cell_type, 1, {-9, 9}) : ir::kNone;
  const Type made = rng.choose({types.square, types.square, types.wide, types.column});
  const bool has_out = rng.bernoulli(0.7);
  const ir::VarId out = has_out ? sketch.output("out", made) : ir::kNone;
  const ir::VarId energy = sketch.output("energy", real);
  const ir::VarId counts = integers ? sketch.output("counts", cell_type) : ir::kNone;
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, parameters);
  maybe_guard(sketch, inputs[0]);

  Rng factors = rng.split("factors");
  if (types.square.rows < 4 && factors.bernoulli(0.4)) decompose(sketch, types, inputs[0]);

  AlgebraGenerator generator(sketch, real, productions(types));
  const ir::VarId m = sketch.let("m", generator.grow({rng.bernoulli(0.7) ? types.square : types.wide, 8}, 2));
  if (rng.bernoulli(0.6)) sketch.let("d", generator.grow({real, 8}, 3));
  if (rng.bernoulli(0.5)) generator.write_parts(m);
  if (integers) integer_matrices(sketch, cells, counts);
  if (has_out) sketch.store(out, generator.grow({made, 8}, 3));
  sketch.store(energy, generator.add_unused_leaves(generator.grow({real, 8}, 2)));
}

}  // namespace assay::generators
