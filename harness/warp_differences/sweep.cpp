#include "harness/warp_differences/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/suite/select/kernel_file.hpp"
#include "harness/warp_differences/forward.hpp"
#include "harness/warp_differences/sweep_rules.hpp"
#include "harness/warp_differences/sweep_values.hpp"

namespace assay::warp {
namespace {

using reference::kNative;

/// Kernels in one file: Warp compiles each file as one module, and starting its compiler takes a second.
constexpr std::size_t kKernelsPerFile = 80;

/// The launch of a kernel on some of the tuples.
ir::Launch launch_of(const ir::Module& module, const SweptCall& call, const EdgeValueTuples& tuples,
                     std::span<const std::size_t> selected) {
  const auto count = static_cast<std::int32_t>(selected.size());
  ir::Launch launch{.extents = {count}, .arguments = {}};
  for (std::size_t k = 0; k < call.operand_types.size(); ++k) {
    ir::Argument argument = ir::make_argument(module, call.operand_types[k].array_of(1), {count});
    const std::size_t size = tuples.operand_array_contents[k].size() / tuples.tuple_count;
    for (std::size_t t = 0; t < selected.size(); ++t) {
      const auto first = tuples.operand_array_contents[k].begin() + static_cast<std::ptrdiff_t>(selected[t] * size);
      std::copy_n(first, size, argument.bytes.begin() + static_cast<std::ptrdiff_t>(t * size));
    }
    launch.arguments.push_back(std::move(argument));
  }
  for (const ir::Type result : call.result_types)
    launch.arguments.push_back(ir::make_argument(module, result.array_of(1), {count}));
  return launch;
}

std::string text_of(reference::Finding::Kind kind) {
  using Kind = reference::Finding::Kind;
  switch (kind) {
    case Kind::kOutOfBounds: return "index out of bounds";
    case Kind::kInvalidIntegerDivision: return "integer division by zero or overflow";
    case Kind::kIntegerOverflow: return "signed integer overflow";
    case Kind::kShiftOutOfRange: return "shift count out of range";
    case Kind::kConversionOutOfRange: return "conversion out of range";
    default: return "other defect of the kernel";
  }
}

/// Why a run leaves tuples out; empty if it does not.
std::string reason_left_out(const reference::ReferenceResult& reference) {
  if (!reference.findings.empty()) return text_of(reference.findings.front().kind);
  return reference.decisions.uncertain_decision_counts[kNative] > 0 ? kUndecidedBranchReason : "";
}

/// The tuples inside the domain of the call.
std::vector<std::size_t> tuples_in_domain(const reference::Oracle& oracle, const ir::Module& module,
                                          const SweptCall& call, const EdgeValueTuples& tuples,
                                          std::map<std::string, std::size_t>& omitted_tuples_by_reason) {
  std::vector<std::size_t> all(tuples.tuple_count);
  std::iota(all.begin(), all.end(), 0);
  const ir::Launch whole = launch_of(module, call, tuples, all);
  if (reason_left_out(oracle.evaluate({.launch = whole})).empty()) return all;
  std::erase_if(all, [&](const std::size_t tuple) {
    const ir::Launch launch = launch_of(module, call, tuples, std::span(&tuple, 1));
    const std::string reason = reason_left_out(oracle.evaluate({.launch = launch}));
    if (!reason.empty()) ++omitted_tuples_by_reason[reason];
    return !reason.empty();
  });
  return all;
}

Result<void> add_kernel(const SweptCall& call, harness::KernelSource source, EdgeValueSweep& sweep) {
  if (source.parse_error) {
    sweep.rejected_call_messages.push_back(fmt::format("{}: {}", call.name, source.parse_error->text()));
    return {};
  }
  const ir::Module& module = *source.module;
  const Result<reference::Oracle> oracle = reference::Oracle::make(module, module.kernels[source.kernel_index]);
  if (!oracle.ok()) return oracle.error();
  const EdgeValueTuples tuples = edge_tuples(call);
  const std::vector<std::size_t> selected =
      tuples_in_domain(*oracle, module, call, tuples, sweep.omitted_tuples_by_reason);
  if (selected.empty())
    return Error{"every combination of edge values is outside the domain of the function", call.name};
  ir::Launch launch = launch_of(module, call, tuples, selected);
  Result<ComparedKernel> subject = ComparedKernel::with_launch(std::move(source), std::move(launch));
  if (!subject.ok()) return subject.error();
  sweep.calls.push_back(call);
  sweep.kernels.push_back(subject.take());
  return {};
}

/// Adds the kernels of one file. Warp would reject a file with a kernel that Assay rejects, if it agrees with Assay, so
/// the file contains only the others.
Result<void> add_file(std::vector<SweptCall> calls, EdgeValueSweep& sweep) {
  Result<harness::KernelSet> read = harness::read_text(swept_file(calls), "sweep.py");
  if (!read.ok()) return read.error();
  std::vector<SweptCall> accepted;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    if (!read->kernels.at(k).parse_error) accepted.push_back(calls[k]);
  }
  const std::string text = swept_file(accepted);
  for (std::size_t k = 0; k < calls.size(); ++k) {
    harness::KernelSource source = std::move(read->kernels[k]);
    source.family = "sweep";
    source.python = text;
    if (auto added = add_kernel(calls[k], std::move(source), sweep); !added.ok()) return added;
  }
  return {};
}

/// Adds a call that the parser rejects, to check that Warp rejects it: the oracle has a kernel without the call.
Result<void> add_rejected_call(const SweptCall& call, EdgeValueSweep& sweep) {
  Result<harness::KernelSet> read = harness::read_text(swept_signature(call), "sweep.py");
  if (!read.ok()) return read.error();
  harness::KernelSource source = std::move(read->kernels.at(0));
  source.family = "sweep";
  source.python = swept_file({call});
  return add_kernel(call, std::move(source), sweep);
}

/// The components of the operands of one tuple.
std::vector<std::vector<double>> operands_of(const SweptCall& call, const ComparedKernel& kernel, std::size_t tuple) {
  const ir::Launch& launch = kernel.sets()[0].launch_by_precision[kNative];
  std::vector<std::vector<double>> operands;
  for (std::size_t k = 0; k < call.operand_types.size(); ++k) {
    const ir::Argument& argument = launch.arguments[k];
    const std::byte* at = argument.bytes.data() + ir::element_offset(argument, static_cast<std::int64_t>(tuple));
    auto& components = operands.emplace_back();
    for (const ir::ScalarComponent& component : ir::scalar_components(kernel.module(), argument.type.element())) {
      components.push_back(ir::is_float(component.scalar)
                               ? ir::read_float(component.scalar, at + component.offset)
                               : static_cast<double>(ir::read_integer(component.scalar, at + component.offset)));
    }
  }
  return operands;
}

/// Whether both are zero, with different signs. The oracle's exact zeros have the sign that the operation gives them.
bool has_other_sign_of_zero(const ComparedScalar& compared) {
  const auto& [expected, got] = std::tie(compared.expected, compared.got);
  return !expected.is_integer && expected.value == 0 && got.value == 0 &&
         std::signbit(expected.value) != std::signbit(got.value);
}

void compare_kernel(const SweptCall& call, const ComparedKernel& kernel, const WarpPassResult& answer,
                    SweepComparison& comparison) {
  const std::size_t operands = call.operand_types.size();
  const auto compared_all = compare_forward(kernel, 0, answer, [&](const ComparedScalar& compared) {
    if (compared.agreement == harness::Agreement::kUnknown) return;
    if (compared.agreement == harness::Agreement::kAgrees && !has_other_sign_of_zero(compared)) return;
    const std::size_t result = compared.parameter_index - operands;
    const auto components = static_cast<std::size_t>(call.result_types[result].components());
    comparison.differences.push_back({.call = &call,
                                      .operands = operands_of(call, kernel, compared.scalar_index / components),
                                      .result_index = result,
                                      .component_index = compared.scalar_index % components,
                                      .expected = compared.expected,
                                      .got = compared.got});
  });
  ++comparison.executed_kernel_count;
  comparison.compared_tuples += static_cast<std::size_t>(kernel.sets()[0].launch_by_precision[kNative].threads());
  comparison.compared_scalars += static_cast<std::size_t>(compared_all.checked_scalars);
  comparison.unbounded_scalars += static_cast<std::size_t>(compared_all.unbounded_scalars);
}

}  // namespace

Result<EdgeValueSweep> make_sweep(const std::vector<SweptCall>& calls) {
  EdgeValueSweep sweep;
  std::vector<SweptCall> together;
  for (const SweptCall& call : calls) {
    if (extension_rule(call) == nullptr) {
      together.push_back(call);
    } else if (auto added = add_rejected_call(call, sweep); !added.ok()) {
      return added.error();
    }
    if (together.size() < kKernelsPerFile && &call != &calls.back()) continue;
    if (auto added = add_file(std::exchange(together, {}), sweep); !added.ok()) return added.error();
  }
  return sweep;
}

std::string describe(const SweptDifference& difference) {
  std::vector<std::string> operands;
  for (const auto& components : difference.operands) {
    operands.push_back(components.size() == 1 ? fmt::format("{}", components[0])
                                              : fmt::format("({})", fmt::join(components, ", ")));
  }
  const std::string call = fmt::format("{}({})", difference.call->name, fmt::join(operands, ", "));
  const std::string part = difference.call->result_types[difference.result_index].components() > 1
                               ? fmt::format(", component {}", difference.component_index)
                               : "";
  return call + part + ": " + describe(difference.expected, difference.got);
}

SweepComparison compare_sweep(const EdgeValueSweep& sweep, const WarpResults& answers) {
  SweepComparison comparison;
  for (std::size_t k = 0; k < sweep.kernels.size(); ++k) {
    const SweptCall& call = sweep.calls[k];
    const WarpPassResult& answer = answers.launch_results[k][0].forward;
    const ExtensionRule* const extension = extension_rule(call);
    if (extension != nullptr && answer.status == WarpPassStatus::kRejected) {
      ++comparison.rejections_by_rule[extension->name];
    } else if (extension == nullptr && answer.status == WarpPassStatus::kDone) {
      compare_kernel(call, sweep.kernels[k], answer, comparison);
    } else {
      comparison.unexplained_outcomes.push_back(
          fmt::format("{}: {}: {}", call.name, to_text(answer.status), answer.message));
    }
  }
  return comparison;
}

}  // namespace assay::warp
