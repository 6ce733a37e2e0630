#include "harness/calibrate/calibrate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "harness/suite/run/batch.hpp"
#include "ir/builder.hpp"
#include "reference/cpu/evaluators.hpp"
#include "support/parallel.hpp"

namespace assay::harness {
namespace {

using backends::BufferId;
using reference::BoundedValue;

constexpr std::uint64_t kBitPatterns = std::uint64_t{1} << 32U;
constexpr std::size_t kInputsOfLaunch = std::size_t{1} << 20U;
constexpr std::size_t kInputsOfSlice = std::size_t{1} << 14U;
constexpr auto kMachineTimeLimit = std::chrono::seconds{60};

/// out[i] = op(x[i]).
ir::Module module_of(ir::Op op) {
  ir::Module module;
  ir::Function& kernel = module.kernels.emplace_back();
  kernel.name = fmt::format("calibrate_{}", ir::row(op).mnemonic);
  kernel.is_kernel = true;
  ir::Builder builder(module, kernel);
  const ir::VarId x = builder.parameter("x", ir::kF32.array_of(1));
  const ir::VarId out = builder.parameter("out", ir::kF32.array_of(1));
  const ir::VarId i = builder.thread_index("i");
  builder.store(out, {builder.var(i)}, builder.op(op, {builder.load(x, {builder.var(i)})}));
  return module;
}

Result<std::vector<backends::BuiltKernel>> build(backends::Device& device, const Printer& printer,
                                                 std::span<const ir::Op> operations) {
  std::vector<backends::EmittedKernel> emitted;
  for (const ir::Op op : operations) {
    const ir::Module module = module_of(op);
    auto source = printer(module, module.kernels.front(), nullptr, device.target());
    if (!source.ok()) return source.error();
    emitted.push_back(source.take());
  }
  std::vector<backends::BuiltKernel> built;
  for (backends::BuildOutcome& outcome : device.build(emitted, backends::BuildFlags::strict())) {
    if (const auto* failed = std::get_if<backends::BuildFailed>(&outcome)) return Error{failed->log};
    built.push_back(std::get<backends::BuiltKernel>(std::move(outcome)));
  }
  return built;
}

/// The memory of one launch: inputs and results.
class Arrays {
 public:
  static Result<Arrays> allocate(backends::DeviceSession& session) {
    Arrays arrays;
    for (BufferId* buffer : {&arrays.x_, &arrays.out_}) {
      const Result<BufferId> allocated = session.allocate(kInputsOfLaunch * sizeof(float));
      if (!allocated.ok()) return allocated.error();
      *buffer = *allocated;
    }
    return arrays;
  }

  [[nodiscard]] backends::LaunchRequest launch(const backends::BuiltKernel& kernel, std::size_t count) const {
    const std::array shape{static_cast<std::int32_t>(count)};
    const std::array strides{static_cast<std::int64_t>(sizeof(float))};
    return {.kernel = &kernel,
            .threads = static_cast<std::int64_t>(count),
            .arguments = {backends::KernelArgument::array(backends::BufferAddress{x_, 0}, shape, strides),
                          backends::KernelArgument::array(backends::BufferAddress{out_, 0}, shape, strides)},
            .time_limit = kMachineTimeLimit};
  }
  [[nodiscard]] std::span<float> inputs(backends::DeviceSession& session) const { return floats(session, x_); }
  [[nodiscard]] std::span<const float> results(backends::DeviceSession& session) const { return floats(session, out_); }

 private:
  static std::span<float> floats(backends::DeviceSession& session, BufferId buffer) {
    return {reinterpret_cast<float*>(session.bytes(buffer).data()), kInputsOfLaunch};
  }
  BufferId x_, out_;
};

/// Compares results with the oracle, input by input.
class Comparison {
 public:
  Comparison(ir::Op op, const reference::ArithmeticProfile& profile)
      : evaluate_(reference::evaluator(op).evaluate),
        recorder_(forced_),
        arithmetic_(ir::Scalar::kF32, profile, recorder_) {
    found_.op = op;
  }

  void add(float input, float got) {
    const BoundedValue x{.v = input, .e = {}};
    const BoundedValue* const operand = &x;
    const BoundedValue expected = evaluate_(arithmetic_, {&operand, 1});
    const double bound = expected.e[reference::kNative];
    const auto value = static_cast<double>(expected.v);
    // A NaN as input gives a number for some functions, as in Warp: acos(nan) is pi.
    if (std::isnan(value) || std::isinf(value)) {
      const bool alike = std::isnan(value) ? std::isnan(got) : value == static_cast<double>(got);
      note(alike, {input, got, value, 0});
      return;
    }
    if (bound == reference::kUnbounded) return;  // a pole, or a result that may overflow
    const double error = static_cast<double>(std::fabs(static_cast<long double>(got) - expected.v));
    const double ulps = error / reference::ulp(arithmetic_.format(reference::kNative), std::fabs(value));
    const CalibrationPoint point{input, got, value, ulps};
    note(error <= bound, point);
    if (ulps > found_.worst_point.ulps) found_.worst_point = point;
  }

  [[nodiscard]] const OperationCalibration& found() const { return found_; }

 private:
  void note(bool holds, const CalibrationPoint& point) {
    ++found_.compared_count;
    if (holds) return;
    ++found_.violation_count;
    if (!found_.first_violation) found_.first_violation = point;
  }

  reference::Evaluate evaluate_;
  reference::ForcedPath forced_;
  reference::DecisionRecorder recorder_;
  reference::BoundedArithmetic arithmetic_;
  OperationCalibration found_;
};

void merge(OperationCalibration& all, const OperationCalibration& part) {
  all.compared_count += part.compared_count;
  all.violation_count += part.violation_count;
  if (part.worst_point.ulps > all.worst_point.ulps) all.worst_point = part.worst_point;
  if (!all.first_violation) all.first_violation = part.first_violation;
}

/// Compares the results of one launch, divided among threads.
OperationCalibration compare(ir::Op op, const reference::ArithmeticProfile& profile, std::span<const float> inputs,
                             std::span<const float> results, unsigned jobs) {
  const std::size_t slices = (inputs.size() + kInputsOfSlice - 1) / kInputsOfSlice;
  std::vector<OperationCalibration> parts(slices);
  for_each_index_in_parallel(slices, jobs, [&](std::size_t slice) {
    Comparison comparison(op, profile);
    const std::size_t first = slice * kInputsOfSlice;
    const std::size_t end = std::min(first + kInputsOfSlice, inputs.size());
    for (std::size_t i = first; i < end; ++i)
      comparison.add(inputs[i], results[i]);
    parts[slice] = comparison.found();
  });
  OperationCalibration all{.op = op};
  for (const OperationCalibration& part : parts)
    merge(all, part);
  return all;
}

Result<OperationCalibration> measure(ir::Op op, const backends::BuiltKernel& kernel, backends::DeviceSession& session,
                                     const Arrays& arrays, backends::SourceTarget target,
                                     const CalibrationOptions& options) {
  const reference::ArithmeticProfile profile =
      profile_of(target == backends::SourceTarget::kCuda, backends::BuildFlags::strict());
  OperationCalibration all{.op = op};
  std::uint64_t bits = 0;
  while (bits < kBitPatterns) {
    const std::span<float> inputs = arrays.inputs(session);
    std::size_t count = 0;
    for (; count < inputs.size() && bits < kBitPatterns; bits += options.bit_pattern_step)
      inputs[count++] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const backends::LaunchRequest launch = arrays.launch(kernel, count);
    const backends::RunOutcome outcome = session.run({&launch, 1}).front();
    if (!std::holds_alternative<backends::Completed>(outcome)) {
      return Error{backends::describe(outcome), std::string(ir::row(op).mnemonic)};
    }
    merge(all, compare(op, profile, inputs.first(count), arrays.results(session).first(count), options.jobs));
  }
  return all;
}

}  // namespace

std::vector<ir::Op> calibrated_operations() {
  std::vector<ir::Op> operations;
  for (const ir::OperationEntry& row : ir::kOperations) {
    const bool is_function = row.arity == 1 && row.rule == ir::TypeRule::kFloatScalars;
    if (is_function && reference::evaluator(row.op).role == reference::EvaluatorRole::kElementwise)
      operations.push_back(row.op);
  }
  return operations;
}

ir::UlpBound ulp_bound_of(ir::Op op, backends::SourceTarget target) {
  const ir::Accuracy& accuracy = ir::row(op).accuracy;
  return target == backends::SourceTarget::kCuda ? accuracy.cuda_f32 : accuracy.libm_f32;
}

Result<std::vector<OperationCalibration>> calibrate_operations(backends::Device& device, const Printer& printer,
                                                               const CalibrationOptions& options,
                                                               const OnCalibration& on_result) {
  auto built = build(device, printer, options.operations);
  if (!built.ok()) return built.error();
  auto session = device.open({.buffer_bytes = 4 * kInputsOfLaunch * sizeof(float)});
  if (!session.ok()) return session.error();
  const Result<Arrays> arrays = Arrays::allocate(**session);
  if (!arrays.ok()) return arrays.error();
  std::vector<OperationCalibration> results;
  for (std::size_t k = 0; k < options.operations.size(); ++k) {
    auto measured = measure(options.operations[k], (*built)[k], **session, *arrays, device.target(), options);
    if (!measured.ok()) return measured.error();
    if (on_result) on_result(*measured);
    results.push_back(measured.take());
  }
  return results;
}

}  // namespace assay::harness
