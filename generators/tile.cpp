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

/// An operation that places, orders or converts the elements of a tile.
enum class Arrangement : std::uint8_t {
  kFill,      ///< a factor that is equal for all elements
  kConvert,   ///< to the other float type and back
  kPart,      ///< a view
  kReplace,   ///< a part that is replaced
  kGather,    ///< loads at indices
  kOfMatrix,  ///< a column, or a diagonal that is added; for two dimensions
  kRamp,      ///< consecutive numbers; for one dimension
  kRecord     ///< greatest or least element so far; for one dimension of float32
};

Arrangement choose_arrangement(Type real, int rank, Rng& rng) {
  using enum Arrangement;
  if (rank == 2) return rng.choose({kFill, kConvert, kPart, kReplace, kGather, kOfMatrix, kOfMatrix, kOfMatrix});
  if (real != ir::kF32) return rng.choose({kFill, kConvert, kPart, kReplace, kGather, kRamp});
  return rng.choose({kFill, kConvert, kPart, kReplace, kGather, kRamp, kRamp, kRecord, kRecord, kRecord});
}

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
      // Warp has no prefix sums of float64.
      const bool has_scan = float_type_ == ir::kF32;
      const ExprId sums = has_scan ? b_.op(scan, {read(a)}) : everywhere(b_.op(Op::kTileSum, {read(a)}, one));
      // The prefix sums of the zeros past the end of an array are equal.
      keep(has_scan ? "running" : "mean", mean(sums, elements), a.most, false);
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

  /// An operation that places, orders or converts elements. `indices`: array of indices for kGather.
  void arrange(Arrangement kind, VarId source, VarId indices, Rng& rng) {
    const TileVariable a = held_[0];
    const auto scaled_by = [&](const char* name, ExprId factor, double most) {
      keep(name, b_.op(Op::kMul, {read(a), factor}), a.most * most, a.varied);
    };
    switch (kind) {
      case Arrangement::kFill:
        scaled_by("weighted", b_.op(Op::kSplat, {number(rng.uniform_real(0.25, 1.75))}, shape_), 1.75);
        return;
      case Arrangement::kConvert: converted(a); return;
      case Arrangement::kPart: part(a, rng); return;
      case Arrangement::kReplace: replaced(a, rng); return;
      case Arrangement::kGather: gathered(source, indices); return;
      case Arrangement::kOfMatrix: column_or_diagonal(a, rng); return;
      case Arrangement::kRamp: {
        const ExprId steps = b_.op(Op::kTileArange, {number(0.5), number(0.25)}, shape_);
        scaled_by("ramp", steps, 0.5 + 0.25 * shape_.tile_size());
        return;
      }
      // Of the tile as it was loaded: elements of other tiles may be equal, which would tie.
      case Arrangement::kRecord:
        keep("record", b_.op(rng.bernoulli(0.5) ? Op::kTileScanMax : Op::kTileScanMin, {read(a)}), a.most, false);
        return;
    }
  }

  /// Half of the tile, computed in the other float type.
  void converted(const TileVariable& a) {
    const Type other = float_type_ == ir::kF32 ? ir::kF64 : ir::kF32;
    const VarId wide =
        b_.let(sketch_.unique_name("wide"), b_.op(Op::kCast, {read(a)}, other.with_tile_extents_of(shape_)));
    const ExprId half = b_.op(Op::kMul, {b_.var(wide), b_.literal(other, 0.5)});
    keep("converted", b_.op(Op::kCast, {half}, shape_), 0.5 * a.most, a.varied);
  }

  /// Multiplies by the sum of a part of the tile.
  void part(const TileVariable& a, Rng& rng) {
    std::vector<int> extents;
    std::vector<ExprId> operands{read(a)};
    int count = 1;
    for (int d = 0; d < shape_.tile_rank(); ++d) {
      const int extent = shape_.tile[static_cast<std::size_t>(d)];
      extents.push_back(rng.uniform_int(1, extent - 1));
      operands.push_back(b_.i32(rng.uniform_int(0, extent - extents.back())));
      count *= extents.back();
    }
    const Type type = ir::tile_type(float_type_.scalar, extents[0], extents.size() == 1 ? 0 : extents[1]);
    const VarId view = b_.let(sketch_.unique_name("part"), b_.op(Op::kTileView, operands, type));
    const ExprId sum = b_.op(Op::kTileSum, {b_.var(view)}, ir::tile_type(float_type_.scalar, 1));
    const VarId total = b_.let(sketch_.unique_name("part_sum"), b_.op(Op::kTileExtract, {sum, b_.i32(0)}));
    const TileVariable c = held_[1];
    keep("by_part", b_.op(Op::kMul, {read(c), b_.var(total)}), count * a.most * c.most, c.varied);
  }

  /// A copy of the tile in which a constant tile replaces a part.
  void replaced(const TileVariable& a, Rng& rng) {
    const VarId copy = b_.let(sketch_.unique_name("patched"), b_.op(Op::kMul, {read(a), number(0.5)}));
    const bool is_row = shape_.tile_rank() == 1;
    const Type type = is_row ? ir::tile_type(float_type_.scalar, 2) : ir::tile_type(float_type_.scalar, 1, 2);
    const ExprId patch = b_.op(Op::kSplat, {number(rng.uniform_real(0.25, 1.75))}, type);
    std::vector<ExprId> operands{b_.var(copy), b_.i32(rng.uniform_int(0, shape_.tile[0] - (is_row ? 2 : 1)))};
    if (!is_row) operands.push_back(b_.i32(rng.uniform_int(0, shape_.tile[1] - 2)));
    operands.push_back(patch);
    b_.assign(copy, b_.op(Op::kTileAssign, operands));
    held_.push_back({.variable = copy, .most = std::max(a.most, 1.75), .varied = false});
  }

  /// Elements of the array at the indices in a tile.
  void gathered(VarId source, VarId indices) {
    keep("gathered", b_.load_tile(shape_, source, places(indices)), kInputs);
  }

  /// The corner of the block's tile with the first offset replaced by this block's part of an array of indices. With
  /// `shift`, each index is one less, so that the zeros past the end of that array are ignored.
  std::vector<ExprId> places(VarId indices, bool shift = false) {
    std::vector<ExprId> offsets = corner(shape_);
    const Type numbers = ir::tile_type(ir::Scalar::kI32, shape_.tile[0]);
    const VarId at = b_.let(sketch_.unique_name("places"), b_.load_tile(numbers, indices, {offsets[0]}));
    offsets[0] = shift ? b_.op(Op::kAdd, {b_.var(at), b_.i32(-1)}) : b_.var(at);
    return offsets;
  }

  /// Two dimensions: one column, or a larger diagonal.
  void column_or_diagonal(const TileVariable& a, Rng& rng) {
    const int rows = shape_.tile[0];
    if (shape_.tile[1] == rows && rng.bernoulli(0.5)) {
      const Type diagonal = ir::tile_type(float_type_.scalar, rows);
      const ExprId added = b_.op(Op::kSplat, {number(rng.uniform_real(0.25, 1.75))}, diagonal);
      keep("raised", b_.op(Op::kTileDiagAdd, {read(a), added}), a.most + 1.75, a.varied);
      return;
    }
    const ExprId column = b_.op(Op::kTileView, {read(a), b_.i32(0), b_.i32(rng.uniform_int(0, shape_.tile[1] - 1))},
                                ir::tile_type(float_type_.scalar, rows, 1));
    const VarId flat = b_.let(sketch_.unique_name("column"),
                              b_.op(Op::kTileReshape, {column}, ir::tile_type(float_type_.scalar, rows)));
    const ExprId sum = b_.op(Op::kTileSum, {b_.var(flat)}, ir::tile_type(float_type_.scalar, 1));
    const VarId total = b_.let(sketch_.unique_name("column_sum"), b_.op(Op::kTileExtract, {sum, b_.i32(0)}));
    const TileVariable c = held_[1];
    keep("by_column", b_.op(Op::kMul, {read(c), b_.var(total)}), rows * a.most * c.most, c.varied);
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
  Rng arrangement = rng.split("arrangement");
  std::vector<Arrangement> kinds;
  for (int left = arrangement.uniform_int(0, 2); left > 0; --left)
    kinds.push_back(choose_arrangement(real, rank, arrangement));
  const bool scatters = arrangement.bernoulli(0.2);
  const bool has_order = scatters || std::ranges::find(kinds, Arrangement::kGather) != kinds.end();
  const VarId order = has_order ? sketch.permutation("order") : ir::kNone;
  const VarId bins = scatters ? sketch.array("bins", real, rank) : ir::kNone;
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
  for (const Arrangement kind : kinds)
    tiles.arrange(kind, inputs[0], order, arrangement);
  tiles.take(rng.uniform_int(2, 4), has_function ? 0 : -1);
  if (repeats) {
    // A loop over further tiles: a sum, or a product, whose derivative needs each iteration's own state.
    const bool product = rng.bernoulli(0.4);
    const double most = tiles.last().most;
    const bool varied = tiles.last().varied;
    // Warp 1.19 generates code that does not compile if the loop changes a copy of a broadcast or transposed tile.
    const bool may_be_view = !varied || shape.tile_rank() == 2;
    const bool from_zero = !product && rng.bernoulli(0.5);
    const TileVariable before = tiles.last();
    const auto last = [&] { return tiles.read(before); };
    const auto start_of_state = [&] {
      if (from_zero) return b.op(Op::kSplat, {tiles.number(0)}, shape);
      return may_be_view ? b.op(Op::kMul, {last(), tiles.number(0.5)}) : last();
    };
    const ExprId start = start_of_state();
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
    const ExprId after = from_zero ? b.op(Op::kAdd, {b.var(state), last()}) : b.var(state);
    tiles.keep("after", after, product ? most : most + 3 * kInputs, varied);
  }
  tiles.take(rng.uniform_int(0, 2), has_function ? 0 : -1);
  if (has_function) tiles.call(0);
  const TileVariable sum = tiles.all_unused();
  if (has_total) {
    const ExprId part = b.op(Op::kTileSum, {tiles.read(sum)}, ir::tile_type(real.scalar, 1));
    b.atomic(ir::AtomicOp::kAdd, total, {b.i32(0)}, part);
  }
  if (scatters && arrangement.bernoulli(0.5)) {
    b.store(bins, tiles.places(order, true), tiles.read(sum));
  } else if (scatters) {
    b.atomic(ir::AtomicOp::kAdd, bins, tiles.places(order), tiles.read(sum));
  }
  b.store(out, tiles.corner(shape), tiles.read(sum));
}

}  // namespace assay::generators
