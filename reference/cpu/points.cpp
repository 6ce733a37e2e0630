#include "reference/cpu/points.hpp"

namespace assay::reference {
namespace {

/// The points of a value, one after another; of one that does not move the same again and again.
class Row {
 public:
  explicit Row(const Points::Value& value)
      : first_(value.h.moves ? value.h.at.data() : &value.f.v), stride_(value.h.moves ? 1 : 0) {}
  long double operator[](std::size_t point) const { return first_[point * stride_]; }

 private:
  const long double* first_;
  std::size_t stride_;
};

template <class Compute>
Points::Handle each(std::size_t count, const Points::Value& a, const Points::Value& b, Compute compute) {
  Points::Handle result;
  result.moves = a.h.moves || b.h.moves;
  if (!result.moves) return result;
  const Row x(a), y(b);
  for (std::size_t k = 0; k < count; ++k)
    result.at[k] = compute(x[k], y[k]);
  return result;
}

}  // namespace

Points::Points(const ComponentValues& direction, std::span<const long double> steps, const Run& run)
    : direction_(direction),
      steps_(steps),
      decisions_(run.forced),
      arithmetics_{Arithmetic(ir::Scalar::kF16, run.profile, decisions_, false),
                   Arithmetic(ir::Scalar::kBF16, run.profile, decisions_, false),
                   Arithmetic(ir::Scalar::kF32, run.profile, decisions_, false),
                   Arithmetic(ir::Scalar::kF64, run.profile, decisions_, false)} {}

Points::Handle Points::leaf(std::size_t parameter, std::size_t leaf, ir::Scalar, long double value) const {
  Handle handle;
  const auto change = static_cast<long double>(component_value(direction_, parameter, leaf));
  handle.moves = change != 0;
  for (std::size_t k = 0; handle.moves && k < count(); ++k)
    handle.at[k] = value + steps_[k] * change;
  return handle;
}

/// The commonest operations decide nothing and are but themselves where no bounds are asked for.
Points::Handle Points::follow(const Evaluator& evaluator, ir::Scalar scalar, std::span<const Value* const> sources,
                              Way way) {
  switch (evaluator.op) {
    case ir::Op::kAdd: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x + y; });
    case ir::Op::kSub: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x - y; });
    case ir::Op::kMul: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x * y; });
    case ir::Op::kDiv: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x / y; });
    case ir::Op::kNeg: return each(count(), *sources[0], *sources[0], [](auto x, auto) { return -x; });
    default:
      return follow(scalar, sources, way, [&](const Arithmetic& a, Operands x) { return evaluator.evaluate(a, x).v; });
  }
}

Points::Handle Points::sum(const Value& a, const Value& b, int sign) const {
  return each(count(), a, b, [s = static_cast<long double>(sign)](auto x, auto y) { return x + s * y; });
}

}  // namespace assay::reference
