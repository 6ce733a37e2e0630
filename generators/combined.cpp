// Kernels of 20 to 200 statements built from parts of other families: expressions, branches, loops with carried state,
// reductions of rows, work in place, atomics, integer selections, and many temporaries.
#include <functional>

#include "generators/carried_state.hpp"
#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul,  Op::kMul,         Op::kSin, Op::kTanh,
                               Op::kDiv, Op::kMin, Op::kSqrt, Op::kConditional, Op::kExp, Op::kAtan};
constexpr Interval kSmall{-2, 2};
constexpr int kMostTrips = 6;

/// The arrays and parameters that the segments of a kernel use.
struct Parts {
  ir::VarId rows = ir::kNone;     ///< x[i, j]
  ir::VarId state = ir::kNone;    ///< read and written in place
  ir::VarId total = ir::kNone;    ///< for atomics
  ir::VarId numbers = ir::kNone;  ///< integers
  ir::VarId length = ir::kNone;   ///< trips of dynamic loops
};

/// Appends segments of a kernel; later segments may use the variables of earlier ones.
class Assembler {
 public:
  Assembler(ExpressionGenerator& generator, const Parts& parts)
      : generator_(generator), sketch_(generator.sketch()), b_(sketch_.b()), parts_(parts) {}

  void segment() {
    switch (sketch_.rng().uniform_int(0, 8)) {
      case 0: return branch();
      case 1: return add_for_loop();
      case 2: return row();
      case 3: return in_place();
      case 4: return atomic();
      case 5: return choice();
      case 6: return nested();
      default: return add_temporaries(generator_, sketch_.rng().uniform_int(1, 3), 2);
    }
  }

 private:
  ir::VarId start(const char* name) { return sketch_.let(name, generator_.grow_in(kSmall, 2)); }
  void change(ir::VarId variable, int depth) { sketch_.assign(variable, generator_.grow_in(kSmall, depth)); }

  void branch() {
    const ir::VarId value = start("v");
    const RangedExpression test = generator_.condition(2);
    const bool both = sketch_.rng().bernoulli(0.6);
    sketch_.if_(
        test, [&] { change(value, 2); }, both ? std::function<void()>([&] { change(value, 3); }) : nullptr);
  }
  void add_for_loop() {
    const LoopRange range = sketch_.rng().bernoulli(0.6)
                                ? dynamic_range(
                                      sketch_, [&] { return b_.var(parts_.length); }, kMostTrips)
                                : constant_range(sketch_);
    const LoopCarriedVariable state = start_state(generator_, range.max_iterations);
    sketch_.add_for_loop("j", range.start, range.stop, range.step, range.index_range, [&](ir::VarId index) {
      if (sketch_.rng().bernoulli(0.5)) offer_index(generator_, index);
      update_state(generator_, state, false);
    });
  }
  /// A sum over the thread's row.
  void row() {
    const ir::VarId sum = sketch_.let("sum", generator_.literal({0.25, 1}));
    sketch_.set_range(sum, {-2.0 * kMostTrips - 1, 2.0 * kMostTrips + 1});
    sketch_.add_for_loop("k", b_.i32(0), b_.var(parts_.length), b_.i32(1), {0, kMostTrips - 1}, [&](ir::VarId k) {
      sketch_.offer_element(parts_.rows, [this, k] {
        return std::vector<ir::ExprId>{sketch_.thread_index(), b_.var(k)};
      });
      const RangedExpression term = generator_.fit(generator_.add_unused_leaves(generator_.grow(2)), kSmall);
      b_.assign(sum, b_.op(Op::kAdd, {b_.var(sum), term.expr}));
    });
  }
  void in_place() {
    const RangedExpression factor = generator_.grow_in({-1, 1}, 2);
    const RangedExpression product = generator_.mul({b_.load(parts_.state, sketch_.thread_indices()), kSmall}, factor);
    const RangedExpression value = generator_.fit(generator_.add(product, generator_.leaf()), kSmall);
    b_.store(parts_.state, sketch_.thread_indices(), value.expr);
  }
  void atomic() {
    const ir::AtomicOp op = sketch_.rng().bernoulli(0.7) ? ir::AtomicOp::kAdd : ir::AtomicOp::kSub;
    const ir::ExprId bin = b_.op(Op::kMod, {sketch_.thread_index(), b_.i32(sketch_.rng().uniform_int(1, 4))});
    b_.atomic(op, parts_.total, {bin}, generator_.grow_in(kSmall, 2).expr);
  }
  /// An integer selects an operation on a value.
  void choice() {
    const ir::VarId value = start("c");
    const RangedExpression test = integer_condition(sketch_, ir::kI32);
    sketch_.if_(
        test, [&] { change(value, 2); },
        [&] {
          const RangedExpression other = integer_condition(sketch_, ir::kI32);
          sketch_.if_(other, [&] { change(value, 1); });
        });
  }
  void nested() {
    const LoopCarriedVariable state = start_state(generator_, 6);
    sketch_.add_for_loop("a", b_.i32(0), b_.i32(2), b_.i32(1), {0, 1}, [&](ir::VarId) {
      sketch_.add_for_loop("b", b_.i32(0), b_.i32(3), b_.i32(1), {0, 2},
                           [&](ir::VarId) { update_state(generator_, state, false); });
    });
  }

  ExpressionGenerator& generator_;
  KernelSketch& sketch_;
  ir::Builder& b_;
  Parts parts_;
};

}  // namespace

void make_combined(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const auto inputs = add_inputs(sketch, real, 1, 2, 4);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 2);
  Parts parts;
  parts.rows = sketch.array("rows", real, 2);
  parts.state = sketch.array("state", real, 1);
  parts.total = sketch.array("total", real, 1);
  parts.numbers = sketch.array("kind", ir::kI32, 1, {0, 7});
  parts.length = sketch.scalar("n", ir::kI32, {1, kMostTrips});
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  sketch.offer_elements({parts.numbers});
  sketch.offer({.type = real, .range = kSmall, .make = [&sketch, parts] {
                  return sketch.b().load(parts.state, sketch.thread_indices());
                }});
  // A row is used even if no segment sums over one.
  sketch.offer_element(parts.rows, [&sketch] {
    return std::vector<ir::ExprId>{sketch.thread_index(), sketch.b().i32(0)};
  });

  ExpressionGenerator generator(sketch, real, kMenu);
  Assembler assembler(generator, parts);
  for (int left = rng.uniform_int(6, 22); left > 0; --left)
    assembler.segment();
  const RangedExpression last = generator.fit(generator.add_unused_leaves(generator.grow(2)), kSmall);
  sketch.b().store(parts.state, sketch.thread_indices(), last.expr);
  sketch.b().atomic(ir::AtomicOp::kAdd, parts.total, {sketch.b().i32(0)}, generator.grow_in(kSmall, 1).expr);
  for (const ir::VarId output : outputs)
    sketch.store(output, generator.grow(2));
}

}  // namespace assay::generators
