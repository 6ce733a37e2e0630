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

/// Offers wp.noise and its variants at a point of float32 inputs; `h` makes the state of the random numbers.
void offer_noise(KernelSketch& sketch, const std::vector<ir::VarId>& reals, ir::VarId h, Rng& rng) {
  ir::Builder& b = sketch.b();
  const auto own = [&](std::size_t k) { return b.load(reals[k % reals.size()], sketch.thread_indices()); };
  const ir::VarId state = sketch.let("state", {b.cast(scalar_type(ir::Scalar::kU32), b.var(h)), {0, 1}});
  const auto name = rng.choose<std::string_view>({"noise", "pnoise", "curlnoise"});
  const int dimensions = rng.uniform_int(name == "curlnoise" ? 2 : 1, 4);
  std::vector<ir::ExprId> place;
  for (std::size_t k = 0; k < static_cast<std::size_t>(dimensions); ++k) {
    const double stretch = truncate_to_two_digits(rng.uniform_real(0.4, 1.6));
    place.push_back(b.op(Op::kMul, {own(k), b.f32(stretch)}));
  }
  std::vector<ir::ExprId> operands{b.var(state)};
  operands.push_back(dimensions == 1 ? place[0] : b.make(ir::vector_type(ir::Scalar::kF32, dimensions), place));
  for (int k = 0; name == "pnoise" && k < dimensions; ++k)
    operands.push_back(b.i32(rng.uniform_int(2, 6)));
  if (name == "curlnoise") {
    operands.push_back(b.literal(scalar_type(ir::Scalar::kU32), rng.uniform_int(std::int64_t{1}, std::int64_t{2})));
    operands.insert(operands.end(), {b.f32(2), b.f32(0.5)});
  }
  const ir::VarId drawn = sketch.let(name == "curlnoise" ? "flow" : "ripple", {sketch.warp(name, operands), {-4, 4}});
  if (name != "curlnoise") return;
  const int component = rng.uniform_int(0, dimensions == 2 ? 1 : 2);
  sketch.offer({.type = ir::kF32, .range = {-8, 8}, .make = [&b, drawn, component] {
                  return b.op(Op::kExtract, {b.var(drawn), b.i32(component)});
                }});
}

/// The sign and exponent bits of a float. All bits would be too large for sums and products without overflow.
ir::ExprId bits_of(KernelSketch& sketch, ir::VarId real, ir::Type word) {
  ir::Builder& b = sketch.b();
  const ir::ExprId value = b.load(real, sketch.thread_indices());
  const bool is_wide = b.type_of(value) == ir::kF64;
  const ir::Type integer = is_wide ? scalar_type(ir::Scalar::kI64) : ir::kI32;
  const ir::ExprId bits = b.op(Op::kReinterpret, {value}, integer);
  const ir::ExprId high = b.op(Op::kShiftRight, {bits, b.literal(integer, std::int64_t{is_wide ? 52 : 23})});
  return integer == word ? high : b.cast(word, high);
}

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
  Rng extra = rng.split("extra");
  if (extra.bernoulli(0.25)) {
    const ir::VarId ones = sketch.let("ones", {sketch.warp("bit_count", {b.var(mixed)}), {0, 64}});
    const ir::ExprId count = word == ir::kI32 ? b.var(ones) : b.cast(word, b.var(ones));
    b.assign(mixed, b.op(Op::kAdd, {b.var(mixed), count}));
  }
  if (has_reals && extra.bernoulli(0.2))
    b.assign(mixed, b.op(Op::kBitXor, {b.var(mixed), bits_of(sketch, reals[0], word)}));
  b.store(hash, sketch.thread_indices(), b.op(Op::kAdd, {b.var(mixed), generator.grow(2)}));
  if (!has_reals) return;
  if (real == ir::kF32 && extra.bernoulli(0.6)) offer_noise(sketch, reals, mixed, extra);
  else if (real == ir::kF32) draw_random_numbers(sketch, extra);

  ExpressionGenerator floats(sketch, real, kMenu);
  const ir::VarId value = sketch.let("value", floats.add_unused_leaves(floats.grow(2)));
  const ir::ExprId low = b.op(Op::kBitAnd, {b.var(mixed), b.literal(word, std::int64_t{7})});
  sketch.if_({generator.test(), {0, 1}}, [&] { sketch.assign(value, floats.grow(2)); });
  const RangedExpression scaled = floats.mul(sketch.read(value), {b.cast(real, low), {0, 7}});
  sketch.store(out, floats.limit_range(floats.add(scaled, floats.grow_in({-2, 2}, 1))));
}

}  // namespace assay::generators
