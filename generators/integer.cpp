// Integers of 8 to 64 bits: operations on bits, shifts below the width, casts, and sums and products that wrap; random
// numbers from Warp's generator as IR. Floats that an integer scales carry the gradient.
#include <cmath>
#include <string_view>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kSin};

/// All values of the type that a domain comment can express exactly.
Interval full_domain(ir::Type integer) {
  const ir::ScalarTypeProperties& scalar = row(integer.scalar);
  const double most = scalar.significant_bits > 52 ? 0x1p52 : std::ldexp(1.0, scalar.significant_bits) - 1;
  return {scalar.is_signed ? -most : 0, most};
}

/// Grows integers of one type that may wrap.
class WordGenerator {
 public:
  WordGenerator(KernelSketch& sketch, ir::Type word) : sketch_(sketch), b_(sketch.b()), word_(word) {}

  ir::ExprId grow(int depth) {
    Rng& rng = sketch_.rng();
    if (depth <= 0 || rng.bernoulli(0.1)) return leaf();
    const Op op =
        rng.choose({Op::kBitAnd, Op::kBitOr, Op::kBitXor, Op::kBitXor, Op::kBitNot, Op::kShiftLeft, Op::kShiftRight,
                    Op::kAdd,    Op::kSub,   Op::kMul,    Op::kNeg,    Op::kDiv,    Op::kMod,       Op::kMin,
                    Op::kMax,    Op::kAbs,   Op::kClamp,  Op::kCast,   Op::kWhere,  Op::kFloorDiv,  Op::kSign});
    const ir::ExprId first = grow(depth - 1);
    switch (op) {
      case Op::kBitNot: return b_.op(op, {first});
      case Op::kNeg:
      case Op::kAbs:
      case Op::kSign: return row(word_.scalar).is_signed ? b_.op(op, {first}) : b_.op(Op::kBitNot, {first});
      case Op::kShiftLeft:
      case Op::kShiftRight: return b_.op(op, {first, constant(0, row(word_.scalar).bytes * 8 - 1)});
      case Op::kDiv:
      case Op::kFloorDiv:
      case Op::kMod: return b_.op(op, {first, constant(2, 9)});
      case Op::kClamp: return b_.op(op, {first, constant(0, 5), constant(6, 90)});
      case Op::kCast: {
        const ir::Type other = choose_integer_type(rng);
        return b_.cast(word_, b_.cast(other, first));
      }
      case Op::kWhere: return b_.op(op, {test(), first, leaf()});
      default: return b_.op(op, {first, grow(depth - 2)});
    }
  }

  ir::ExprId test() {
    const Op op = sketch_.rng().choose({Op::kLt, Op::kLe, Op::kGt, Op::kGe, Op::kEq, Op::kNe});
    const ir::ExprId left = leaf();
    return b_.op(op, {left, constant(0, 100)});
  }

 private:
  ir::ExprId constant(std::int64_t low, std::int64_t high) {
    return b_.literal(word_, sketch_.rng().uniform_int(low, high));
  }
  ir::ExprId leaf() {
    if (sketch_.rng().bernoulli(0.15)) return constant(1, 120);
    const auto term = sketch_.leaf(word_);
    return term ? term->expr : constant(1, 120);
  }

  KernelSketch& sketch_;
  ir::Builder& b_;
  ir::Type word_;
};

}  // namespace

void make_integer(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng, 0.1);
  const ir::Type word = choose_integer_type(rng);
  std::vector<ir::VarId> words;
  for (int left = rng.uniform_int(1, 3); left > 0; --left)
    words.push_back(sketch.array(rng.choose({"a", "b", "key", "mask", "code"}), word, 1, full_domain(word)));
  const ir::VarId scalar = rng.bernoulli(0.4) ? sketch.scalar("salt", word, full_domain(word)) : ir::kNone;
  const bool has_reals = rng.bernoulli(0.6);
  std::vector<ir::VarId> reals;
  if (has_reals) reals = add_inputs(sketch, real, 1, 1, 2);
  const ir::VarId hash = sketch.output("hash", word);
  const ir::VarId out = has_reals ? sketch.output("out", real) : ir::kNone;
  sketch.start();
  for (const ir::VarId array : words)
    sketch.offer_elements({array});
  if (scalar != ir::kNone) sketch.offer_variable(scalar);
  offer_arrays(sketch, reals);

  ir::Builder& b = sketch.b();
  WordGenerator generator(sketch, word);
  const ir::VarId mixed = sketch.let("h", {generator.grow(3), full_domain(word)});
  if (rng.bernoulli(0.5)) {
    b.for_(sketch.unique_name("round"), b.i32(0), b.i32(rng.uniform_int(2, 5)), b.i32(1), [&](ir::VarId) {
      const ir::ExprId change = generator.grow(2);
      b.assign(mixed, b.op(Op::kBitXor, {b.op(Op::kMul, {b.var(mixed), b.literal(word, std::int64_t{31})}), change}));
    });
  }
  b.store(hash, sketch.thread_indices(), b.op(Op::kAdd, {b.var(mixed), generator.grow(2)}));
  if (!has_reals) return;

  ExpressionGenerator floats(sketch, real, kMenu);
  const ir::VarId value = sketch.let("value", floats.add_unused_leaves(floats.grow(2)));
  const ir::ExprId low = b.op(Op::kBitAnd, {b.var(mixed), b.literal(word, std::int64_t{7})});
  sketch.if_({generator.test(), {0, 1}}, [&] { sketch.assign(value, floats.grow(2)); });
  const RangedExpression scaled = floats.mul(sketch.read(value), {b.cast(real, low), {0, 7}});
  sketch.store(out, floats.limit_range(floats.add(scaled, floats.grow_in({-2, 2}, 1))));
}

}  // namespace assay::generators
