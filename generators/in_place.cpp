// Arrays that are read and written: overwrites, read-modify-write, augmented assignment, content written and read
// again, in branches and in loops over a row.
#include <functional>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kSin, Op::kDiv, Op::kTanh};

/// The interval of every element between statements, including `+=` and `-=` of kTerm.
constexpr Interval kContent{-4, 4};
constexpr Interval kStored{-2, 2};
constexpr Interval kTerm{-1, 1};

/// Updates thread-private elements of the state arrays.
class InPlace {
 public:
  InPlace(ExpressionGenerator& generator, std::vector<ir::VarId> states)
      : generator_(generator), sketch_(generator.sketch()), b_(sketch_.b()), states_(std::move(states)) {}

  void change() {
    const ir::VarId state = sketch_.rng().choose(states_);
    switch (sketch_.rng().uniform_int(0, 6)) {
      case 0: return overwrite(state);
      case 1: return add_to(state, ir::AtomicOp::kAdd);
      case 2: return add_to(state, ir::AtomicOp::kSub);
      case 3: return multiply(state);
      case 4: return in_branch(state);
      case 5: return swap(state, sketch_.rng().choose(states_));
      default: return modify(state);
    }
  }

 private:
  ir::ExprId cell(ir::VarId state) { return b_.load(state, sketch_.thread_indices()); }
  void set(ir::VarId state, RangedExpression value) {
    b_.store(state, sketch_.thread_indices(), generator_.fit(value, kStored).expr);
  }

  void overwrite(ir::VarId state) { set(state, generator_.grow(3)); }
  /// x[i] = x[i] * e + f
  void modify(ir::VarId state) {
    const RangedExpression factor = generator_.grow_in(kTerm, 2);
    const RangedExpression product = generator_.mul({cell(state), kContent}, factor);
    set(state, generator_.add(product, generator_.grow_in(kTerm, 1)));
  }
  /// x[i] += e, which widens the interval of the element; done once before it is mapped back.
  void add_to(ir::VarId state, ir::AtomicOp op) {
    set(state, {cell(state), kContent});
    b_.atomic(op, state, sketch_.thread_indices(), generator_.grow_in(kTerm, 2).expr);
  }
  /// x[i] *= e
  void multiply(ir::VarId state) {
    const RangedExpression factor = generator_.grow_in({-0.5, 0.5}, 2);
    b_.store(state, sketch_.thread_indices(), b_.op(Op::kMul, {cell(state), factor.expr}));
  }
  void in_branch(ir::VarId state) {
    const RangedExpression test = generator_.condition(1);
    const bool both = sketch_.rng().bernoulli(0.5);
    sketch_.if_(
        test, [&] { modify(state); }, both ? std::function<void()>([&] { overwrite(state); }) : nullptr);
  }
  void swap(ir::VarId a, ir::VarId b) {
    if (a == b) return modify(a);
    const ir::VarId kept = sketch_.let("kept", {cell(a), kContent});
    set(a, {cell(b), kContent});
    set(b, sketch_.read(kept));
  }

  ExpressionGenerator& generator_;
  KernelSketch& sketch_;
  ir::Builder& b_;
  std::vector<ir::VarId> states_;
};

/// for j in range(n): x[i, j] = a * x[i, j] + e, or a running sum, which reads the previous element.
void change_row(ExpressionGenerator& generator, ir::VarId rows, ir::VarId goal) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const bool running = sketch.rng().bernoulli(0.5);
  const ir::ExprId stop = b.shape_of(rows, 1);
  sketch.add_for_loop("j", b.i32(running ? 1 : 0), stop, b.i32(1), {0, 12}, [&](ir::VarId j) {
    const auto at = [&] { return std::vector<ir::ExprId>{sketch.thread_index(), b.var(j)}; };
    sketch.offer_element(goal, at);
    const RangedExpression term = generator.fit(generator.add_unused_leaves(generator.grow(2)), kTerm);
    const auto before = [&] {
      return std::vector<ir::ExprId>{sketch.thread_index(), b.op(Op::kSub, {b.var(j), b.i32(1)})};
    };
    const ir::ExprId old = b.load(rows, running ? before() : at());
    const ir::ExprId kept = b.op(Op::kMul, {generator.literal({0.2, 0.5}).expr, old});
    b.store(rows, at(), b.op(Op::kAdd, {kept, term.expr}));
  });
}

}  // namespace

void make_in_place(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const bool has_rows = rng.bernoulli(0.3);
  if (!has_rows && rng.bernoulli(0.2)) sketch.set_launch_rank(2);
  const auto inputs = add_inputs(sketch, real, sketch.launch_rank(), 1, 2);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  std::vector<ir::VarId> states;
  for (int left = rng.uniform_int(1, 2); left > 0; --left)
    states.push_back(sketch.array(rng.choose({"state", "value", "velocity", "field"}), real, sketch.launch_rank()));
  const ir::VarId rows = has_rows ? sketch.array("rows", real, 2) : ir::kNone;
  const ir::VarId goal = has_rows ? sketch.array("goal", real, 2) : ir::kNone;
  const auto outputs = add_outputs(sketch, real, 0, 1);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  for (const ir::VarId state : states)
    sketch.offer({.type = real, .range = kContent, .make = [&sketch, state] {
                    return sketch.b().load(state, sketch.thread_indices());
                  }});

  ExpressionGenerator generator(sketch, real, kMenu);
  InPlace in_place(generator, states);
  for (int left = rng.uniform_int(1, 4); left > 0; --left)
    in_place.change();
  if (has_rows) change_row(generator, rows, goal);
  store_outputs(generator, outputs, 2);
  // Unused leaves are added to the last state.
  const RangedExpression last = generator.add_unused_leaves(generator.grow(2));
  sketch.b().store(states.back(), sketch.thread_indices(), generator.fit(last, kStored).expr);
}

}  // namespace assay::generators
