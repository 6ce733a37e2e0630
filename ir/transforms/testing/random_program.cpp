#include "ir/transforms/testing/random_program.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "support/rng.hpp"

namespace assay::transforms::testing {
namespace {

using namespace ir;

constexpr int kDeepest = 4;  ///< nesting of blocks
const Type kVec3 = vector_type(Scalar::kF64, 3);

/// Generates one function or kernel.
class Writer {
 public:
  Writer(const Module& module, Function& function, Rng rng, int statements)
      : b_(module, function), rng_(rng), left_(statements) {
    // Only in half of the programs: most programs that read arrays overwritten by a loop are rejected.
    writes_in_loops_ = chance(0.5);
  }

  void kernel() {
    x_ = b_.parameter("x", kF64.array_of(1));
    out_ = b_.parameter("out", kF64.array_of(1));
    cells_ = b_.parameter("cells", kF64.array_of(1));
    sums_ = b_.parameter("sums", kF64.array_of(1));
    k_ = b_.parameter("k", kI32.array_of(1));
    const VarId c = b_.parameter("c", kF64);
    const VarId n = b_.parameter("n", kI32);
    i_ = b_.thread_index("i");
    floats_.emplace_back(c, false);
    ints_.emplace_back(n, false);
    ints_.emplace_back(i_, false);
    declare_float();
    declare_float();
    while (left_ > 0)
      statement();
    b_.store(out_, {b_.var(i_)}, b_.op(Op::kAdd, {any_float(2), b_.var(floats_.back().first)}));
  }

  /// A function (f64, i32) -> f64 with a loop that it may return from.
  void function() {
    is_function_ = true;
    b_.function().results = {kF64};
    floats_.emplace_back(b_.parameter("a", kF64), false);
    ints_.emplace_back(b_.parameter("m", kI32), false);
    declare_float();
    while (left_ > 0)
      statement();
    b_.return_({any_float(2)});
  }

 private:
  using Scoped = std::pair<VarId, bool>;  ///< a variable, and whether it may be assigned

  bool chance(double p) { return rng_.bernoulli(p); }
  ExprId f64(double value) { return b_.literal(kF64, value); }
  ExprId pick(const std::vector<Scoped>& from) { return b_.var(rng_.choose(from).first); }
  VarId assignable(const std::vector<Scoped>& from) {
    std::vector<VarId> candidates;
    for (const auto& [variable, mutates] : from) {
      if (mutates) candidates.push_back(variable);
    }
    return candidates.empty() ? kNone : rng_.choose(candidates);
  }

  // ---- expressions
  ExprId any_int(int depth) {
    if (depth == 0 || chance(0.5)) return chance(0.7) ? pick(ints_) : b_.i32(rng_.uniform_int(0, 3));
    if (!is_function_ && chance(0.3)) return b_.load(k_, {masked(any_int(depth - 1), 7)});
    return b_.op(chance(0.7) ? Op::kAdd : Op::kSub, {any_int(depth - 1), any_int(depth - 1)});
  }
  ExprId masked(ExprId value, int mask) { return b_.op(Op::kBitAnd, {value, b_.i32(mask)}); }
  /// One of the four thread-private elements.
  ExprId private_element() {
    const ExprId base = b_.op(Op::kMul, {b_.var(i_), b_.i32(4)});
    return b_.op(Op::kAdd, {base, chance(0.5) ? b_.i32(rng_.uniform_int(0, 3)) : masked(any_int(1), 3)});
  }
  ExprId condition() {
    if (chance(0.3)) return b_.op(Op::kLt, {any_int(1), any_int(1)});
    const ExprId simple = b_.op(chance(0.5) ? Op::kLt : Op::kGt, {any_float(1), any_float(1)});
    if (chance(0.8)) return simple;
    return b_.op(chance(0.5) ? Op::kAnd : Op::kOr, {simple, b_.op(Op::kGt, {any_float(2), f64(0.25)})});
  }

  ExprId terminal() {
    if (!is_function_ && chance(0.35)) {
      switch (rng_.uniform_int(0, 4)) {
        case 0: return b_.load(out_, {b_.var(i_)});
        case 1: return b_.load(cells_, {private_element()});
        default: return b_.load(x_, {masked(any_int(1), 15)});
      }
    }
    if (!vectors_.empty() && chance(0.2)) return b_.op(Op::kExtract, {pick(vectors_), component()});
    return chance(0.85) ? pick(floats_) : f64(rng_.uniform_real(-1, 1));
  }
  ExprId component() {
    if (chance(0.5)) return b_.i32(rng_.uniform_int(0, 2));
    return b_.op(Op::kMin, {masked(any_int(1), 3), b_.i32(2)});
  }

  ExprId any_float(int depth) {
    if (depth == 0) return terminal();
    const auto inner = [&] { return any_float(depth - 1); };
    switch (rng_.uniform_int(0, 13)) {
      case 0: return b_.op(Op::kAdd, {inner(), inner()});
      case 1: return b_.op(Op::kSub, {inner(), inner()});
      case 2:
      case 3: return b_.op(Op::kMul, {inner(), inner()});
      case 4: return b_.op(Op::kSin, {inner()});
      case 5: return b_.op(Op::kTanh, {inner()});
      case 6: return b_.op(Op::kMin, {inner(), inner()});
      case 7: return b_.op(Op::kWhere, {b_.op(Op::kLt, {inner(), inner()}), inner(), inner()});
      case 8: return b_.op(Op::kConditional, {b_.op(Op::kGt, {inner(), f64(0.1)}), inner(), inner()});
      case 9: {
        const ExprId square = inner();
        return b_.op(Op::kSqrt, {b_.op(Op::kAdd, {b_.op(Op::kMul, {square, square}), f64(0.5)})});
      }
      case 10: return b_.op(Op::kDiv, {inner(), b_.op(Op::kAdd, {b_.op(Op::kAbs, {inner()}), f64(0.5)})});
      case 11: return b_.cast(kF64, masked(any_int(1), 3));
      case 12:
        if (!b_.module().functions.empty() && !is_function_) return b_.call(0, {inner(), masked(any_int(1), 3)});
        return inner();
      default: return inner();
    }
  }
  /// A bounded expression, so that iterating it does not overflow.
  ExprId tame_float() {
    const ExprId value = any_float(static_cast<int>(rng_.uniform_int(1, 3)));
    return b_.op(chance(0.5) ? Op::kSin : Op::kTanh, {value});
  }

  // ---- statements
  void declare_float() { floats_.emplace_back(b_.let("t", tame_float()), true); }

  void statement() {
    --left_;
    switch (rng_.uniform_int(0, 15)) {
      case 0: return declare_float();
      case 1: ints_.emplace_back(b_.let("m", masked(any_int(2), 7)), true); return;
      case 2: vectors_.emplace_back(b_.let("v", b_.make(kVec3, {tame_float(), terminal(), terminal()})), true); return;
      case 3:
      case 4:
        if (const VarId target = assignable(floats_); target != kNone) b_.assign(target, tame_float());
        return;
      case 5:
        if (const VarId target = assignable(ints_); target != kNone) b_.assign(target, masked(any_int(2), 7));
        return;
      case 6: return assign_vector();
      case 7:
      case 8:
      case 9:
        if (loops_ == 0 || writes_in_loops_) write_memory();
        return;
      case 10:
      case 11: return branch();
      case 12: return count();
      case 13: return repeat();
      default: return jump();
    }
  }

  void assign_vector() {
    const VarId target = assignable(vectors_);
    if (target == kNone) return;
    if (chance(0.5)) return b_.assign(target, b_.op(Op::kInsert, {b_.var(target), component(), tame_float()}));
    const ExprId sum = b_.op(Op::kAdd, {b_.op(Op::kMul, {b_.var(target), f64(0.5)}), pick(vectors_)});
    b_.assign(target, b_.op(Op::kWhere, {condition(), sum, pick(vectors_)}));
  }

  void write_memory() {
    if (is_function_) return;
    switch (rng_.uniform_int(0, 5)) {
      case 0: return b_.store(out_, {b_.var(i_)}, tame_float());
      case 1:
        return b_.store(out_, {b_.var(i_)},
                        b_.op(Op::kAdd, {b_.op(Op::kMul, {b_.load(out_, {b_.var(i_)}), f64(0.5)}), tame_float()}));
      case 2: return b_.atomic(chance(0.5) ? AtomicOp::kAdd : AtomicOp::kSub, out_, {b_.var(i_)}, tame_float());
      case 3: return b_.store(cells_, {private_element()}, tame_float());
      case 4: {
        const VarId at = b_.let("at", private_element());
        const ExprId scaled = b_.op(Op::kMul, {b_.load(cells_, {b_.var(at)}), terminal()});
        return b_.store(cells_, {b_.var(at)}, b_.op(Op::kSin, {scaled}));
      }
      default: return b_.atomic(AtomicOp::kAdd, sums_, {masked(any_int(1), 3)}, tame_float());
    }
  }

  /// Generates the statements of a nested block; variables declared there go out of scope.
  void body(int most) {
    const auto floats = floats_;
    const auto ints = ints_;
    const auto vectors = vectors_;
    ++depth_;
    const auto statements = rng_.uniform_int(1, most);
    for (int s = 0; s < statements && left_ > 0; ++s)
      statement();
    --depth_;
    floats_ = floats;
    ints_ = ints;
    vectors_ = vectors;
  }

  void branch() {
    if (depth_ >= kDeepest) return;
    if (chance(0.4)) return b_.if_(condition(), [&] { body(4); });
    b_.if_(
        condition(), [&] { body(4); }, [&] { body(4); });
  }

  void count() {
    if (depth_ >= kDeepest || loops_ >= 3) return;
    static constexpr std::array kSteps = {1, 1, 1, 2, -1, -2};
    const int step = rng_.choose(kSteps);
    const ExprId low = b_.i32(rng_.uniform_int(-1, 1));
    const ExprId high = chance(0.7) ? masked(any_int(1), 3) : b_.i32(rng_.uniform_int(0, 4));
    ++loops_;
    b_.for_("j", step > 0 ? low : high, step > 0 ? high : low, b_.i32(step), [&](VarId j) {
      ints_.emplace_back(j, false);
      body(6);
      ints_.erase(std::find(ints_.begin(), ints_.end(), Scoped{j, false}));
    });
    --loops_;
  }

  void repeat() {
    if (depth_ >= kDeepest || loops_ >= 3) return;
    const VarId turns = b_.let("turns", b_.i32(0));
    const ExprId few = b_.op(Op::kLt, {b_.var(turns), b_.i32(rng_.uniform_int(1, 5))});
    ++loops_;
    b_.while_(chance(0.5) ? few : b_.op(Op::kAnd, {few, condition()}), [&] {
      b_.assign(turns, b_.op(Op::kAdd, {b_.var(turns), b_.i32(1)}));
      ints_.emplace_back(turns, false);
      body(6);
      ints_.erase(std::find(ints_.begin(), ints_.end(), Scoped{turns, false}));
    });
    --loops_;
  }

  void jump() {
    if (depth_ >= kDeepest || (loops_ == 0 && chance(0.8))) return;
    b_.if_(condition(), [&] {
      if (chance(0.6)) body(2);
      if (loops_ > 0 && chance(0.8)) return chance(0.6) ? b_.break_() : b_.continue_();
      if (is_function_) return b_.return_({any_float(1)});
      b_.return_();
    });
  }

  Builder b_;
  Rng rng_;
  int left_;
  int depth_ = 0;
  int loops_ = 0;
  bool is_function_ = false;
  bool writes_in_loops_ = false;
  VarId x_ = kNone, out_ = kNone, cells_ = kNone, sums_ = kNone, k_ = kNone, i_ = kNone;
  std::vector<Scoped> floats_, ints_, vectors_;
};

}  // namespace

Module random_program(std::uint64_t seed) {
  Rng rng(seed);
  Module module;
  module.source_name = "random.py";
  if (rng.bernoulli(0.3)) {
    Function function;
    function.name = "helper";
    Writer(module, function, rng.split("function"), static_cast<int>(rng.uniform_int(2, 8))).function();
    module.functions.push_back(std::move(function));
  }
  Function kernel;
  kernel.name = "program";
  kernel.is_kernel = true;
  kernel.annotations = {"domain: 0 <= k <= 4", "domain: 0 <= n <= 4"};
  Writer(module, kernel, rng.split("kernel"), static_cast<int>(rng.uniform_int(5, 25))).kernel();
  module.kernels.push_back(std::move(kernel));
  return module;
}

}  // namespace assay::transforms::testing
