// Tiles in one and two dimensions: loads, maps, sums, products, transposes and stores by a block of threads.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::ExprId;
using ir::Op;
using ir::Type;
using ir::VarId;

constexpr double kInputs = 2;  ///< greatest magnitude of an array's elements
constexpr double kMost = 6;    ///< greatest magnitude of a tile's elements before they are scaled down

/// A tile variable, the bound of its elements, and whether the elements differ, so that the greatest is unique.
struct TileVariable {
  VarId variable = ir::kNone;
  double most = 0;
  bool varied = true;
};

/// Makes tiles of one shape out of each other.
class Tiles {
 public:
  Tiles(KernelSketch& sketch, Type real, Type shape)
      : sketch_(sketch), b_(sketch.b()), rng_(sketch.rng()), float_type_(real), shape_(shape) {}

  Type shape() const { return shape_; }
  ExprId read(const TileVariable& held) {
    used_.insert(held.variable);
    return b_.var(held.variable);
  }
  const TileVariable& last() const { return held_.back(); }
  const TileVariable& any() { return rng_.choose(held_); }
  ExprId number(double value) { return b_.literal(float_type_, value); }

  const TileVariable& keep(const char* name, ExprId value, double most, bool varied = true) {
    if (most > kMost) {
      value = b_.op(Op::kMul, {value, number(std::ldexp(1.0, -std::ilogb(most / kMost) - 1))});
      most = kMost;
    }
    return held_.emplace_back(b_.let(sketch_.unique_name(name), value), most, varied);
  }

  /// Index of this block's first element in an array of tiles of the shape, `further` tiles on in the last dimension.
  std::vector<ExprId> corner(Type shape, VarId further = ir::kNone) {
    std::vector<ExprId> offsets;
    for (int d = 0; d < shape.tile_rank(); ++d) {
      const bool moves = further != ir::kNone && d + 1 == shape.tile_rank();
      const bool has_index = d < sketch_.launch_rank();
      if (!moves && !has_index) {
        offsets.push_back(b_.i32(0));
        continue;
      }
      const ExprId number = moves ? b_.var(further) : sketch_.thread_index(d);
      offsets.push_back(b_.op(Op::kMul, {number, b_.i32(shape.tile[static_cast<std::size_t>(d)])}));
    }
    return offsets;
  }
  ExprId load(VarId array, VarId further = ir::kNone) { return b_.load_tile(shape_, array, corner(shape_, further)); }

  /// One more tile, by an operation on each element.
  void combine() {
    const TileVariable a = any();
    const TileVariable c = any();
    const bool varied = a.varied != c.varied || (a.varied && a.variable != c.variable);
    switch (rng_.uniform_int(0, 5)) {
      case 0: keep("sum", b_.op(Op::kAdd, {read(a), read(c)}), a.most + c.most, varied); return;
      case 1:
        if (a.variable == c.variable) break;
        keep("difference", b_.op(Op::kSub, {read(a), read(c)}), a.most + c.most, varied);
        return;
      case 2: keep("product", b_.op(Op::kMul, {read(a), read(c)}), a.most * c.most, varied); return;
      case 3:
        keep("scaled", b_.op(Op::kMul, {number(rng_.uniform_real(0.25, 1.75)), read(a)}), 1.75 * a.most, a.varied);
        return;
      case 4: keep("negative", b_.op(Op::kNeg, {read(a)}), a.most, a.varied); return;
      default: break;
    }
    map(a);
  }

  /// An operation of Warp's by tile_map.
  void map(const TileVariable& a) {
    // Tiles derived from each other may have many equal or zero elements, for which min and max would tie.
    const TileVariable first = held_[0];
    const TileVariable second = held_[1];
    switch (rng_.uniform_int(0, 5)) {
      case 0: keep("wave", b_.op(Op::kSin, {read(a)}), 1, a.varied); return;
      case 1: keep("bent", b_.op(Op::kTanh, {read(a)}), 1, a.varied); return;
      case 2: keep("angle", b_.op(Op::kAtan, {read(a)}), 1.6, a.varied); return;
      case 3: keep("size", b_.op(Op::kAbs, {read(first)}), first.most); return;
      case 4: keep("less", b_.op(Op::kMin, {read(first), read(second)}), first.most); return;
      default: keep("more", b_.op(Op::kMax, {read(second), read(first)}), first.most); return;
    }
  }

  /// A function of the file by tile_map: some elements take each of its branches.
  void call(int function) {
    const TileVariable a = any();
    const TileVariable c = any();
    keep("called", b_.call(function, {read(a), read(c), number(rng_.uniform_real(0.25, 1.5))}),
         1.5 * a.most + 1 + 0.5 * c.most, a.varied || c.varied);
  }

  /// Operations on whole tiles: sums, extremes, prefix sums, transposes.
  void gather() {
    const TileVariable a = any();
    const Type one = ir::tile_type(float_type_.scalar, 1);
    const int elements = shape_.tile_size();
    const auto everywhere = [&](ExprId tile) { return b_.op(Op::kTileBroadcast, {tile}, shape_); };
    const auto mean = [&](ExprId sum, int terms) { return b_.op(Op::kMul, {sum, number(1.0 / terms)}); };
    const int kind = rng_.uniform_int(0, 5);
    switch (!a.varied && (kind == 1 || kind == 2) ? 0 : kind) {
      case 0: keep("mean", everywhere(mean(b_.op(Op::kTileSum, {read(a)}, one), elements)), a.most, false); return;
      case 1: keep("greatest", everywhere(b_.op(Op::kTileMax, {read(a)})), a.most, false); return;
      case 2: keep("least", everywhere(b_.op(Op::kTileMin, {read(a)})), a.most, false); return;
      case 3: picked(a); return;
      case 4: located(); return;
      default: break;
    }
    if (shape_.tile_rank() == 1) {
      const Op scan = rng_.bernoulli(0.5) ? Op::kTileScan : Op::kTileScanExclusive;
      keep("running", mean(b_.op(scan, {read(a)}), elements), a.most);
    } else {
      rows_or_columns(a);
    }
  }

  /// Multiplies by the element of one loaded tile at the index of the greatest or least element of another.
  void located() {
    const Op where = rng_.bernoulli(0.5) ? Op::kTileArgmin : Op::kTileArgmax;
    const VarId at =
        b_.let(sketch_.unique_name("at"), b_.op(Op::kTileExtract, {b_.op(where, {read(held_[0])}), b_.i32(0)}));
    const Type row = ir::tile_type(float_type_.scalar, shape_.tile_size());
    const ExprId flat = shape_.tile_rank() == 1 ? read(held_[1]) : b_.op(Op::kTileReshape, {read(held_[1])}, row);
    const VarId element = b_.let(sketch_.unique_name("element"), b_.op(Op::kTileExtract, {flat, b_.var(at)}));
    const TileVariable c = any();
    keep("by_located", b_.op(Op::kMul, {read(c), b_.var(element)}), kInputs * c.most, c.varied);
  }

  /// Multiplies by one of its own elements.
  void picked(const TileVariable& a) {
    std::vector<ExprId> operands{read(a)};
    for (int d = 0; d < shape_.tile_rank(); ++d)
      operands.push_back(b_.i32(rng_.uniform_int(0, shape_.tile[static_cast<std::size_t>(d)] - 1)));
    const VarId element = b_.let(sketch_.unique_name("element"), b_.op(Op::kTileExtract, operands));
    const TileVariable c = any();
    keep("by_element", b_.op(Op::kMul, {read(c), b_.var(element)}), a.most * c.most, c.varied);
  }

  void rows_or_columns(const TileVariable& a) {
    const int rows = shape_.tile[0];
    const int columns = shape_.tile[1];
    if (rows == columns && rng_.bernoulli(0.4)) {
      keep("turned", b_.op(Op::kTileTranspose, {read(a)}), a.most, a.varied);
    } else if (rows == columns && rng_.bernoulli(0.6)) {
      const TileVariable c = any();
      keep("multiplied", b_.op(Op::kTileProduct, {read(a), read(c)}), rows * a.most * c.most, a.varied && c.varied);
    } else if (rng_.bernoulli(0.5)) {
      const ExprId sums = b_.op(Op::kTileSum, {read(a)}, ir::tile_type(float_type_.scalar, columns));
      keep("columns", b_.op(Op::kTileBroadcast, {sums}, shape_), rows * a.most, false);
    } else {
      const ExprId sums = b_.op(Op::kTileSum, {read(a)}, ir::tile_type(float_type_.scalar, rows, 1));
      keep("rows", b_.op(Op::kTileBroadcast, {sums}, shape_), columns * a.most, false);
    }
  }

  /// The sum of all unused tiles.
  TileVariable all_unused() {
    TileVariable sum = last();
    for (const TileVariable& held : std::vector<TileVariable>(held_)) {
      if (held.variable == sum.variable || used_.contains(held.variable)) continue;
      sum = keep("joined", b_.op(Op::kAdd, {read(sum), read(held)}), sum.most + held.most);
    }
    return sum;
  }

  void take(int steps, int function) {
    for (int k = 0; k < steps; ++k) {
      const int kind = rng_.uniform_int(0, function >= 0 ? 4 : 3);
      if (kind == 4) call(function);
      else if (kind >= 2) gather();
      else combine();
    }
  }

 private:
  KernelSketch& sketch_;
  ir::Builder& b_;
  Rng& rng_;
  Type float_type_;
  Type shape_;
  std::vector<TileVariable> held_;
  std::set<VarId> used_;
};

/// def bend(x, y, a): a function with two branches.
ir::Function two_arms(const ir::Module& module, Type real, Rng& rng) {
  ir::Function function;
  function.name = "bend";
  function.results = {real};
  ir::Builder b(module, function);
  const VarId x = b.parameter("x", real);
  const VarId y = b.parameter("y", real);
  const VarId a = b.parameter("a", real);
  const double edge = rng.uniform_real(-0.5, 0.5);
  b.if_(b.op(Op::kGt, {b.var(x), b.literal(real, edge)}), [&] {
    const ExprId wave = b.op(rng.bernoulli(0.5) ? Op::kSin : Op::kTanh, {b.var(y)});
    b.return_({b.op(Op::kAdd, {b.op(Op::kMul, {b.var(x), b.var(a)}), wave})});
  });
  b.return_({b.op(Op::kSub, {b.op(Op::kMul, {b.var(y), b.literal(real, 0.5)}), b.var(x)})});
  return function;
}

}  // namespace

void make_tile(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const Type real = choose_float_type(rng);
  const int rank = rng.uniform_int(1, 2);
  const auto extent = [&] { return rank == 1 ? rng.choose({3, 4, 7, 8, 16}) : rng.choose({2, 3, 4}); };
  const int rows = extent();
  const bool square = rng.bernoulli(0.6);
  const Type shape = ir::tile_type(real.scalar, rows, rank == 1 ? 0 : square ? rows : extent());
  const bool repeats = rng.bernoulli(0.4);
  const bool has_total = rng.bernoulli(0.4);
  const bool has_function = rng.bernoulli(0.5);
  sketch.set_launch_rank(rng.uniform_int(1, rank));

  std::vector<VarId> inputs;
  for (const char* name : {"a", "b"})
    inputs.push_back(sketch.array(name, real, rank, {-kInputs, kInputs}));
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const VarId steps = repeats ? sketch.scalar("steps", ir::kI32, {0, 3}) : ir::kNone;
  const VarId total = has_total ? sketch.array("total", real, 1) : ir::kNone;
  const VarId out = sketch.array("out", real, rank);
  sketch.start();
  if (has_function) sketch.add_function(two_arms(sketch.b().module(), real, rng));

  ir::Builder& b = sketch.b();
  Tiles tiles(sketch, real, shape);
  for (const VarId input : inputs)
    tiles.keep("t", tiles.load(input), kInputs);
  for (const VarId scalar : scalars) {
    const TileVariable& first = tiles.last();
    tiles.keep("weighted", b.op(Op::kMul, {tiles.read(first), b.var(scalar)}), 2 * first.most);
  }
  tiles.take(rng.uniform_int(2, 4), has_function ? 0 : -1);
  if (repeats) {
    // A loop over further tiles: a sum, or a product, whose derivative needs each iteration's own state.
    const bool product = rng.bernoulli(0.4);
    const double most = tiles.last().most;
    const bool varied = tiles.last().varied;
    // Warp 1.19 generates code that does not compile if the loop changes a copy of a broadcast or transposed tile.
    const bool may_be_view = !varied || shape.tile_rank() == 2;
    const ExprId last = tiles.read(tiles.last());
    const ExprId start = may_be_view ? b.op(Op::kMul, {last, tiles.number(0.5)}) : last;
    const VarId state = b.let(sketch.unique_name("state"), start);
    sketch.add_for_loop("k", b.i32(0), b.var(steps), b.i32(1), {0, 2}, [&](VarId k) {
      const ExprId next = tiles.load(inputs[0], k);
      if (product) {
        const ExprId factor = b.op(Op::kMul, {next, tiles.number(0.5)});
        b.assign(state, b.op(Op::kMul, {b.var(state), factor}));
      } else {
        b.assign(state, b.op(Op::kAdd, {b.var(state), next}));
      }
    });
    tiles.keep("after", b.var(state), product ? most : most + 3 * kInputs, varied);
  }
  tiles.take(rng.uniform_int(0, 2), has_function ? 0 : -1);
  if (has_function) tiles.call(0);
  const TileVariable sum = tiles.all_unused();
  if (has_total) {
    const ExprId part = b.op(Op::kTileSum, {tiles.read(sum)}, ir::tile_type(real.scalar, 1));
    b.atomic(ir::AtomicOp::kAdd, total, {b.i32(0)}, part);
  }
  b.store(out, tiles.corner(shape), tiles.read(sum));
}

}  // namespace assay::generators
