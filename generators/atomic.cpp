// Atomic updates, contended and spread: sums and differences of scalars and vectors, minima and maxima, and for
// integers the operations on bits too. Each target sees operations that commute, so that the order of threads does not
// matter.
#include <string_view>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::AtomicOp;
using ir::Op;

/// Without selections: two threads would tie in a minimum or maximum by construction.
const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kSin, Op::kTanh, Op::kDiv};

/// An array that threads update, and the kind of update.
struct Target {
  ir::VarId array = ir::kNone;
  AtomicOp op = AtomicOp::kAdd;
  ir::Type type;
};

Target float_target(KernelSketch& sketch, ir::Type real) {
  Rng& rng = sketch.rng();
  const AtomicOp op = rng.choose(
      {AtomicOp::kAdd, AtomicOp::kAdd, AtomicOp::kAdd, AtomicOp::kSub, AtomicOp::kSub, AtomicOp::kMin, AtomicOp::kMax});
  const bool sums = op == AtomicOp::kAdd || op == AtomicOp::kSub;
  const ir::Type type = sums && rng.bernoulli(0.3) ? vector_type(real.scalar, rng.uniform_int(2, 4)) : real;
  const std::string_view name = sums ? "total" : op == AtomicOp::kMin ? "least" : "greatest";
  return {.array = sketch.array(name, type, 1), .op = op, .type = type};
}

Target integer_target(KernelSketch& sketch, ir::Type integer) {
  const AtomicOp op = sketch.rng().choose(
      {AtomicOp::kAdd, AtomicOp::kSub, AtomicOp::kMin, AtomicOp::kMax, AtomicOp::kAnd, AtomicOp::kOr, AtomicOp::kXor});
  return {.array = sketch.array("count", integer, 1, small_domain(integer)), .op = op, .type = integer};
}

/// The element that a thread updates: a shared one, a bin chosen by an input, one of a few, or a thread-private one.
ir::ExprId cell(KernelSketch& sketch, ir::VarId bins) {
  ir::Builder& b = sketch.b();
  switch (sketch.rng().uniform_int(0, 4)) {
    case 0: return b.i32(sketch.rng().uniform_int(0, 2));
    case 1: return b.op(Op::kMod, {sketch.thread_index(), b.i32(sketch.rng().uniform_int(2, 5))});
    case 2: return sketch.thread_index();
    default: return b.load(bins, {sketch.thread_index()});
  }
}

/// `own`: a thread-private input.
RangedExpression value_for(ExpressionGenerator& generator, const Target& target, RangedExpression own, bool use_all) {
  KernelSketch& sketch = generator.sketch();
  const auto grown = [&](int depth) {
    const RangedExpression term = generator.grow_in({-2, 2}, depth);
    return use_all ? generator.add_unused_leaves(term) : term;
  };
  if (ir::is_integer(target.type.scalar)) return grow_integer(sketch, target.type, 2);
  const bool sums = target.op == AtomicOp::kAdd || target.op == AtomicOp::kSub;
  // A different value in each thread: equal ones would tie.
  if (!sums) return generator.fit(generator.add(grown(2), generator.mul(own, generator.literal({0.5, 1.5}))), {-2, 2});
  if (target.type.is_scalar()) return grown(3);
  std::vector<ir::ExprId> components{grown(2).expr};
  while (static_cast<int>(components.size()) < target.type.rows)
    components.push_back(generator.grow_in({-2, 2}, 1).expr);
  return {sketch.b().make(target.type, components), {-2, 2}};
}

/// Replaces an integer that no other thread accesses, always or if it has a given value, and counts the old one.
void exchange(KernelSketch& sketch, ir::VarId slot, ir::VarId numbers, ir::VarId kept) {
  ir::Builder& b = sketch.b();
  const ir::Type integer = b.function().var(slot).type.element();
  const bool compares = sketch.rng().bernoulli(0.5);
  const ir::ExprId number = b.load(numbers, sketch.thread_indices());
  const ir::ExprId wanted = compares ? b.literal(integer, sketch.rng().uniform_int<std::int64_t>(0, 3)) : ir::kNone;
  const ir::VarId old =
      b.atomic_result(sketch.unique_name("old"), compares ? AtomicOp::kCompareAndSwap : AtomicOp::kExchange, slot,
                      {sketch.thread_index()}, number, wanted);
  const ir::ExprId scaled = b.op(Op::kMul, {b.var(old), b.literal(integer, std::int64_t{2})});
  b.store(kept, sketch.thread_indices(), b.op(Op::kAdd, {scaled, b.load(numbers, sketch.thread_indices())}));
}

/// Compares thread-private inputs, so that about half of the threads take the branch in each launch; by-value
/// parameters or derived values would exercise the branch in too few launches.
RangedExpression own_test(ExpressionGenerator& generator, const std::vector<ir::VarId>& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const auto compare = [&](ir::VarId input) {
    const Op op = sketch.rng().choose({Op::kLt, Op::kLe, Op::kGt, Op::kGe});
    const ir::ExprId own = sketch.element(input, sketch.thread_indices()).expr;
    return RangedExpression{b.op(op, {own, generator.literal({-0.75, 0.75}).expr}), {0, 1}};
  };
  const RangedExpression first = compare(inputs.front());
  if (inputs.size() == 1 || sketch.rng().bernoulli(0.5)) return first;
  const Op op = sketch.rng().bernoulli(0.5) ? Op::kAnd : Op::kOr;
  return {b.op(op, {first.expr, compare(inputs.back()).expr}), {0, 1}};
}

void update(ExpressionGenerator& generator, const Target& target, ir::VarId input, ir::VarId bins, bool use_all) {
  KernelSketch& sketch = generator.sketch();
  const RangedExpression value = value_for(generator, target, sketch.element(input, sketch.thread_indices()), use_all);
  sketch.b().atomic(target.op, target.array, {cell(sketch, bins)}, value.expr);
}

}  // namespace

void make_atomic(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const ir::Type integer = scalar_type(
      rng.choose({ir::Scalar::kI32, ir::Scalar::kI32, ir::Scalar::kU32, ir::Scalar::kI64, ir::Scalar::kU64}));
  const bool counts = rng.bernoulli(0.6);
  const auto inputs = add_inputs(sketch, real, 1, 1, 3);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const ir::VarId bins = sketch.array("bin", ir::kI32, 1, {0, 5});
  const ir::VarId numbers = counts ? sketch.array("number", integer, 1, small_domain(integer)) : ir::kNone;
  std::vector<Target> targets;
  for (int left = rng.uniform_int(1, 3); left > 0; --left)
    targets.push_back(float_target(sketch, real));
  if (counts) targets.push_back(integer_target(sketch, integer));
  const bool exchanges = counts && rng.bernoulli(0.5);
  const ir::VarId slot = exchanges ? sketch.array("slot", integer, 1, {0, 3}) : ir::kNone;
  const ir::VarId kept = exchanges ? sketch.output("kept", integer) : ir::kNone;
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  if (counts) sketch.offer_elements({numbers});

  ExpressionGenerator generator(sketch, real, kMenu);
  add_temporaries(generator, rng.uniform_int(0, 2), 2);
  // The first target, which receives the unused leaves, is updated outside of branches, by all threads.
  update(generator, targets[0], inputs[0], bins, true);
  for (std::size_t k = 1; k < targets.size(); ++k) {
    const auto one = [&] { update(generator, targets[k], inputs[0], bins, false); };
    const bool sums = targets[k].op == AtomicOp::kAdd || targets[k].op == AtomicOp::kSub;
    const int place = rng.uniform_int(0, 3);
    if (place == 0) {
      sketch.if_(own_test(generator, inputs), one);
    } else if (place == 1 && sums) {
      ir::Builder& b = sketch.b();
      sketch.add_for_loop("j", b.i32(0), b.i32(rng.uniform_int(2, 4)), b.i32(1), {0, 3}, [&](ir::VarId) { one(); });
    } else {
      one();
    }
  }
  if (exchanges) exchange(sketch, slot, numbers, kept);
}

}  // namespace assay::generators
