#include "reference/cpu/points.hpp"

namespace assay::reference {
namespace {

/// The values at the points; the same value at every point if it does not move.
class Row {
 public:
  explicit Row(const PointTracer::Value& value)
      : first_(value.h.varies_between_points ? value.h.values_at_points.data() : &value.f.v),
        stride_(value.h.varies_between_points ? 1 : 0) {}
  long double operator[](std::size_t point) const { return first_[point * stride_]; }

 private:
  const long double* first_;
  std::size_t stride_;
};

template <class Compute>
PointTracer::Handle each(std::size_t count, const PointTracer::Value& a, const PointTracer::Value& b, Compute compute) {
  PointTracer::Handle result;
  result.varies_between_points = a.h.varies_between_points || b.h.varies_between_points;
  if (!result.varies_between_points) return result;
  const Row x(a), y(b);
  for (std::size_t k = 0; k < count; ++k)
    result.values_at_points[k] = compute(x[k], y[k]);
  return result;
}

}  // namespace

PointTracer::PointTracer(const ComponentValues& direction, std::span<const long double> steps, const OracleRun& run)
    : direction_(direction),
      steps_(steps),
      decisions_(run.forced_path),
      arithmetic_by_type_{BoundedArithmetic(ir::Scalar::kF16, run.profile, decisions_, false),
                          BoundedArithmetic(ir::Scalar::kBF16, run.profile, decisions_, false),
                          BoundedArithmetic(ir::Scalar::kF32, run.profile, decisions_, false),
                          BoundedArithmetic(ir::Scalar::kF64, run.profile, decisions_, false)} {}

PointTracer::Handle PointTracer::input_handle(std::size_t parameter, std::size_t component, ir::Scalar,
                                              long double value) const {
  Handle handle;
  const auto change = static_cast<long double>(component_value(direction_, parameter, component));
  handle.varies_between_points = change != 0;
  for (std::size_t k = 0; handle.varies_between_points && k < count(); ++k)
    handle.values_at_points[k] = value + steps_[k] * change;
  return handle;
}

/// Fast path for the most common operations, which have no decisions and need no bounds.
PointTracer::Handle PointTracer::evaluate_at_points(const Evaluator& evaluator, ir::Scalar scalar,
                                                    std::span<const Value* const> sources, PathChange step) {
  switch (evaluator.op) {
    case ir::Op::kAdd: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x + y; });
    case ir::Op::kSub: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x - y; });
    case ir::Op::kMul: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x * y; });
    case ir::Op::kDiv: return each(count(), *sources[0], *sources[1], [](auto x, auto y) { return x / y; });
    case ir::Op::kNeg: return each(count(), *sources[0], *sources[0], [](auto x, auto) { return -x; });
    default:
      return evaluate_at_points(scalar, sources, step,
                                [&](const BoundedArithmetic& a, Operands x) { return evaluator.evaluate(a, x).v; });
  }
}

PointTracer::Handle PointTracer::sum(const Value& a, const Value& b, int sign) const {
  return each(count(), a, b, [s = static_cast<long double>(sign)](auto x, auto y) { return x + s * y; });
}

}  // namespace assay::reference
