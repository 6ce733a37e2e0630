// Reductions over rows and over all threads: sums, products, norms, minima and maxima with argument, histograms,
// softmax and log-sum-exp.
#include <functional>
#include <string_view>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kSin, Op::kTanh};
constexpr int kMostTrips = 9;
constexpr Interval kSmall{-2, 2};

enum class Kind : std::uint8_t { kSum, kNorm, kMean, kLeast, kGreatest, kProduct, kSoftmax, kLogSumExp };

/// Reduces expressions of a row's elements.
class Reduction {
 public:
  Reduction(ExpressionGenerator& generator, ir::VarId rows, ir::VarId length)
      : generator_(generator), sketch_(generator.sketch()), b_(sketch_.b()), rows_(rows), length_(length) {}

  /// The reduced value, in kModerateRange.
  RangedExpression reduce(Kind kind, ir::VarId place) {
    switch (kind) {
      case Kind::kNorm: return norm();
      case Kind::kMean: return mean();
      case Kind::kLeast: return extremum(Op::kLt, ir::kNone);
      case Kind::kGreatest: return extremum(Op::kGt, place);
      case Kind::kProduct: return product();
      case Kind::kSoftmax: return exponentials(true);
      case Kind::kLogSumExp: return exponentials(false);
      case Kind::kSum: break;
    }
    return sum();
  }

 private:
  ir::ExprId number(double value) { return b_.literal(generator_.real(), value); }
  ir::ExprId op(Op op, ir::ExprId a, ir::ExprId b) { return b_.op(op, {a, b}); }
  ir::ExprId bound() { return length_ != ir::kNone ? b_.var(length_) : b_.shape_of(rows_, 1); }
  ir::ExprId first() { return b_.load(rows_, {sketch_.thread_index(), b_.i32(0)}); }
  ir::VarId start(std::string_view name, ir::ExprId value) {
    const ir::VarId variable = b_.let(sketch_.unique_name(name), value);
    return variable;
  }
  RangedExpression tamed(ir::ExprId value, Interval range) { return generator_.limit_range({value, range}); }

  /// Adds a loop over the elements of the row from index `from`; `body` may use each element as a leaf.
  void over(int from, const std::function<void(ir::VarId)>& body) {
    sketch_.add_for_loop("j", b_.i32(from), bound(), b_.i32(1), {0, kMostTrips - 1}, [&](ir::VarId j) {
      sketch_.offer_element(rows_, [this, j] { return std::vector<ir::ExprId>{sketch_.thread_index(), b_.var(j)}; });
      body(j);
    });
  }
  /// A tree that uses the row's element.
  RangedExpression grown_with_all(Interval target) {
    return generator_.fit(generator_.add_unused_leaves(generator_.grow(2)), target);
  }
  RangedExpression element(ir::VarId j) { return sketch_.element(rows_, {sketch_.thread_index(), b_.var(j)}); }

  RangedExpression sum() {
    const ir::VarId s = start("s", number(0.25));
    over(0, [&](ir::VarId) { b_.assign(s, op(Op::kAdd, b_.var(s), grown_with_all(kSmall).expr)); });
    return tamed(b_.var(s), {-20, 20});
  }
  RangedExpression mean() {
    const ir::VarId s = start("total", number(0));
    const ir::VarId weights = start("weights", number(0.5));
    over(0, [&](ir::VarId) {
      const ir::VarId w = start("w", generator_.fit(generator_.grow(1), {0.25, 2}).expr);
      b_.assign(s, op(Op::kAdd, b_.var(s), op(Op::kMul, b_.var(w), grown_with_all(kSmall).expr)));
      b_.assign(weights, op(Op::kAdd, b_.var(weights), b_.var(w)));
    });
    return {op(Op::kDiv, b_.var(s), b_.var(weights)), kSmall};
  }
  RangedExpression norm() {
    const ir::VarId squares = start("squares", number(0.05));
    over(0, [&](ir::VarId j) {
      const ir::VarId d = start("d", generator_.fit(generator_.add(element(j), generator_.grow(1)), kSmall).expr);
      b_.assign(squares, op(Op::kAdd, b_.var(squares), op(Op::kMul, b_.var(d), b_.var(d))));
    });
    return {b_.op(Op::kSqrt, {b_.var(squares)}), {0, 6}};
  }
  RangedExpression product() {
    const ir::VarId p = start("p", number(1.5));
    over(0, [&](ir::VarId) { b_.assign(p, op(Op::kMul, b_.var(p), grown_with_all({0.7, 1.1}).expr)); });
    return tamed(b_.var(p), {0, 16});
  }
  /// The least or greatest element by comparison; with `place`, also its index.
  RangedExpression extremum(Op better, ir::VarId place) {
    const ir::VarId best = start("best", first());
    const ir::VarId at = place != ir::kNone ? start("at", b_.i32(0)) : ir::kNone;
    const bool by_comparison = at != ir::kNone || sketch_.rng().bernoulli(0.5);
    over(1, [&](ir::VarId j) {
      if (!by_comparison) {
        b_.assign(best, op(better == Op::kLt ? Op::kMin : Op::kMax, b_.var(best), element(j).expr));
        return;
      }
      sketch_.if_({op(better, element(j).expr, b_.var(best)), {0, 1}}, [&] {
        b_.assign(best, element(j).expr);
        if (at != ir::kNone) b_.assign(at, b_.var(j));
      });
    });
    if (at != ir::kNone) b_.store(place, sketch_.thread_indices(), b_.var(at));
    return {b_.var(best), kSmall};
  }
  /// The greatest element's softmax, or the logarithm of the sum of exponentials, shifted by that element.
  RangedExpression exponentials(bool softmax) {
    const ir::VarId top = start("top", first());
    over(1, [&](ir::VarId j) { b_.assign(top, op(Op::kMax, b_.var(top), element(j).expr)); });
    const ir::VarId s = start("s", number(0));
    over(0, [&](ir::VarId j) {
      const ir::ExprId shifted = op(Op::kSub, element(j).expr, b_.var(top));
      b_.assign(s, op(Op::kAdd, b_.var(s), b_.op(Op::kExp, {shifted})));
    });
    if (!softmax) return {op(Op::kAdd, b_.var(top), b_.op(Op::kLog, {b_.var(s)})), {-2, 5}};
    const ir::ExprId shifted = op(Op::kSub, first(), b_.var(top));
    return {op(Op::kDiv, b_.op(Op::kExp, {shifted}), b_.var(s)), {0, 1}};
  }

  ExpressionGenerator& generator_;
  KernelSketch& sketch_;
  ir::Builder& b_;
  ir::VarId rows_;
  ir::VarId length_;
};

/// bins[int(position)] += e: the index is truncated to an integer and inactive.
void add_histogram(ExpressionGenerator& generator, ir::VarId positions, ir::VarId counts, ir::VarId sums) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const ir::VarId bin = b.let(sketch.unique_name("bin"), b.cast(ir::kI32, b.load(positions, sketch.thread_indices())));
  b.atomic(ir::AtomicOp::kAdd, counts, {b.var(bin)}, b.i32(1));
  b.atomic(ir::AtomicOp::kAdd, sums, {b.var(bin)}, generator.grow_in(kSmall, 2).expr);
}

}  // namespace

void make_reduction(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const Kind kind = rng.choose({Kind::kSum, Kind::kNorm, Kind::kMean, Kind::kLeast, Kind::kGreatest, Kind::kProduct,
                                Kind::kSoftmax, Kind::kLogSumExp});
  const bool has_length = rng.bernoulli(0.5);
  const bool has_histogram = rng.bernoulli(0.25);
  const bool has_total = rng.bernoulli(0.5);
  const ir::VarId rows = sketch.array("x", real, 2);
  const auto inputs = add_inputs(sketch, real, 1, 1, 2);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const ir::VarId length = has_length ? sketch.scalar("n", ir::kI32, {1, kMostTrips}) : ir::kNone;
  const ir::VarId positions = has_histogram ? sketch.array("position", real, 1, {0, 3.9}) : ir::kNone;
  const ir::VarId counts = has_histogram ? sketch.array("counts", ir::kI32, 1, {0, 9}) : ir::kNone;
  const ir::VarId sums = has_histogram ? sketch.array("sums", real, 1) : ir::kNone;
  const ir::VarId total = has_total ? sketch.array("total", real, 1) : ir::kNone;
  const ir::VarId place = kind == Kind::kGreatest && rng.bernoulli(0.6) ? sketch.output("place", ir::kI32) : ir::kNone;
  const auto outputs = add_outputs(sketch, real, 1, 1);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);

  ExpressionGenerator generator(sketch, real, kMenu);
  Reduction reduction(generator, rows, length);
  const ir::VarId reduced = sketch.let("reduced", reduction.reduce(kind, place));
  if (has_histogram) add_histogram(generator, positions, counts, sums);
  const RangedExpression scaled = generator.mul(sketch.read(reduced), generator.grow_in(kSmall, 1));
  const RangedExpression result = generator.add_unused_leaves(generator.limit_range(scaled));
  if (has_total) {
    const ir::VarId part = sketch.let("part", result);
    sketch.b().atomic(ir::AtomicOp::kAdd, total, {sketch.b().i32(0)}, sketch.read(part).expr);
    return sketch.store(outputs[0], generator.mul(sketch.read(part), generator.literal({0.25, 0.75})));
  }
  sketch.store(outputs[0], result);
}

}  // namespace assay::generators
