// Array access patterns: in one to four dimensions, transposed, shifted, strided, reversed, clamped, wrapped,
// through index arrays and permutations, and scattered by addition.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kSin, Op::kConditional};

/// Makes indices of all kinds. Reads may use any of them; writes of different threads must differ.
class Indexer {
 public:
  Indexer(KernelSketch& sketch, ir::VarId gather) : sketch_(sketch), b_(sketch.b()), gather_(gather) {}

  /// Indices into an array of the launch's rank, for a read.
  std::function<std::vector<ir::ExprId>()> read(ir::VarId array) {
    Rng& rng = sketch_.rng();
    const int rank = b_.function().var(array).type.rank;
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    if (rng.bernoulli(0.4)) rng.shuffle(order);
    std::vector<std::function<ir::ExprId()>> makers;
    for (int d = 0; d < rank; ++d)
      makers.push_back(along(array, d, order[static_cast<std::size_t>(d)]));
    return [makers] {
      std::vector<ir::ExprId> indices;
      for (const auto& make : makers)
        indices.push_back(make());
      return indices;
    };
  }

 private:
  /// One index along dimension d of the array, from thread index number `from`.
  std::function<ir::ExprId()> along(ir::VarId array, int d, int from) {
    Rng& rng = sketch_.rng();
    const auto own = [this, from] { return sketch_.thread_index(from < sketch_.launch_rank() ? from : 0); };
    const auto last = [this, array, d] { return b_.op(Op::kSub, {b_.shape_of(array, d), b_.i32(1)}); };
    const int shift = rng.uniform_int(1, 3);
    switch (rng.uniform_int(0, 8)) {
      case 0: return [this, own, shift] { return b_.op(Op::kAdd, {own(), b_.i32(shift)}); };
      case 1: return [this, own, shift] { return b_.op(Op::kMul, {own(), b_.i32(shift)}); };
      case 2:  // clamped to the border
        return [this, own, last, shift] { return b_.op(Op::kMin, {b_.op(Op::kAdd, {own(), b_.i32(shift)}), last()}); };
      case 3:
        return [this, own, shift] { return b_.op(Op::kMax, {b_.op(Op::kSub, {own(), b_.i32(shift)}), b_.i32(0)}); };
      case 4:  // wrapped around
        return [this, own, array, d, shift] {
          return b_.op(Op::kMod, {b_.op(Op::kAdd, {own(), b_.i32(shift)}), b_.shape_of(array, d)});
        };
      case 5:
        if (gather_ == ir::kNone) return own;
        return [this] { return b_.load(gather_, {sketch_.thread_index()}); };
      case 6: return [this, own, shift] { return b_.op(Op::kDiv, {own(), b_.i32(shift)}); };
      case 7:  // clamped and from the end
        return [this, own, last] { return b_.op(Op::kMax, {b_.op(Op::kSub, {last(), own()}), b_.i32(0)}); };
      default: return own;
    }
  }

  KernelSketch& sketch_;
  ir::Builder& b_;
  ir::VarId gather_;
};

/// How outputs are written.
enum class Write : std::uint8_t { kOwn, kTransposed, kReversed, kPermuted, kScattered };

void write(ExpressionGenerator& generator, Write how, ir::VarId output, ir::VarId permutation, RangedExpression value) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  std::vector<ir::ExprId> indices = sketch.thread_indices();
  switch (how) {
    case Write::kOwn: break;
    case Write::kTransposed: std::rotate(indices.begin(), indices.begin() + 1, indices.end()); break;
    case Write::kReversed: {
      const ir::ExprId last = b.op(Op::kSub, {b.shape_of(output, 0), b.i32(1)});
      indices[0] = b.op(Op::kSub, {last, indices[0]});
      break;
    }
    case Write::kPermuted: indices[0] = b.load(permutation, {indices[0]}); break;
    case Write::kScattered:
      indices[0] = b.op(Op::kDiv, {indices[0], b.i32(sketch.rng().uniform_int(2, 3))});
      return b.atomic(ir::AtomicOp::kAdd, output, std::move(indices), value.expr);
  }
  b.store(output, std::move(indices), value.expr);
}

/// An array in thread-private memory: filled with multiples of an input in one loop, summed from the end in another.
void local_window(KernelSketch& sketch, ir::Type real, const std::function<ir::ExprId()>& input, Rng& rng) {
  ir::Builder& b = sketch.b();
  const int count = rng.uniform_int(2, 5);
  const double first = truncate_to_two_digits(rng.uniform_real(0.2, 0.9));
  const double step = truncate_to_two_digits(rng.uniform_real(0.1, 0.3));
  const double weight = truncate_to_two_digits(rng.uniform_real(0.2, 0.5));
  const auto number = [&](double value) { return b.literal(real, value); };
  const ir::VarId window =
      b.let_zero(sketch.unique_name("window"), real.local_array_of(static_cast<std::uint32_t>(count)));
  sketch.set_new_range(window, kModerateRange);
  const ir::VarId share = b.let(sketch.unique_name("share"), number(first));
  sketch.set_new_range(share, {0, 3});
  sketch.add_for_loop("k", b.i32(0), b.i32(count), b.i32(1), {0, 4}, [&](ir::VarId k) {
    b.store(window, {b.var(k)}, b.op(Op::kMul, {input(), b.var(share)}));
    b.assign(share, b.op(Op::kAdd, {b.var(share), number(step)}));
  });
  const ir::VarId sum = sketch.let("sum", {number(weight), kModerateRange});
  sketch.add_for_loop("m", b.i32(0), b.i32(count), b.i32(1), {0, 4}, [&](ir::VarId m) {
    const ir::ExprId from_end = b.op(Op::kSub, {b.i32(count - 1), b.var(m)});
    const ir::ExprId before = b.op(Op::kMul, {b.var(sum), number(weight)});
    b.assign(sum, b.op(Op::kAdd, {before, b.load(window, {from_end})}));
  });
}

}  // namespace

void make_array_access(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const int rank = rng.choose({1, 1, 1, 2, 2, 3, 4});
  sketch.set_launch_rank(rank);
  const Write how =
      rng.choose({Write::kOwn, Write::kTransposed, Write::kReversed, Write::kPermuted, Write::kScattered});
  const auto inputs = add_inputs(sketch, real, rank, 1, 3);
  const auto rows = add_inputs(sketch, real, 1, 0, 1);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const ir::VarId gather = rng.bernoulli(0.6) ? sketch.array("at", ir::kI32, 1, {0, 4}) : ir::kNone;
  const ir::VarId permutation = how == Write::kPermuted ? sketch.permutation("to") : ir::kNone;
  const auto outputs = add_outputs(sketch, real, 1, 1);
  sketch.start();
  ir::Builder& b = sketch.b();
  Indexer indexer(sketch, gather);
  for (const ir::VarId array : inputs) {
    sketch.offer_element(array, indexer.read(array));
    if (rng.bernoulli(0.6)) sketch.offer_element(array, indexer.read(array));
  }
  for (const ir::VarId array : rows)
    sketch.offer_element(array, indexer.read(array));
  offer_variables(sketch, scalars);

  Rng windows = rng.split("window");
  const auto own = [&] { return b.load(inputs[0], sketch.thread_indices()); };
  if (windows.bernoulli(0.25)) local_window(sketch, real, own, windows);

  ExpressionGenerator generator(sketch, real, kMenu);
  add_temporaries(generator, rng.uniform_int(0, 2), 2);
  write(generator, how, outputs[0], permutation, generator.add_unused_leaves(generator.grow(3)));
}

}  // namespace assay::generators
