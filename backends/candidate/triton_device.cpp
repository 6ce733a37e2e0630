#include "backends/candidate/triton_device.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backends/candidate/formula.hpp"
#include "backends/candidate/session.hpp"
#include "backends/candidate/specification.hpp"

namespace assay::candidate {

using namespace backends;
namespace fs = std::filesystem;

namespace {

constexpr const char* kDefaultTritonArchitecture = "compute_80";

/// Triton's name of a scalar type of Warp; empty if there is none.
std::string_view triton_type(std::string_view type) {
  struct TypeName {
    std::string_view warp, triton;
  };
  constexpr std::array kNames{TypeName{"float32", "fp32"}, TypeName{"float16", "fp16"}, TypeName{"bfloat16", "bf16"},
                              TypeName{"float64", "fp64"}, TypeName{"int8", "i8"},      TypeName{"int16", "i16"},
                              TypeName{"int32", "i32"},    TypeName{"int64", "i64"},    TypeName{"uint8", "u8"},
                              TypeName{"uint16", "u16"},   TypeName{"uint32", "u32"},   TypeName{"uint64", "u64"},
                              TypeName{"bool", "i1"}};
  const auto* const found = std::ranges::find(kNames, type, &TypeName::warp);
  return found == kNames.end() ? std::string_view() : found->triton;
}

/// The types of the arguments that the contract states, or of all parameters of the specification.
Result<std::vector<std::string>> types_of_arguments(const LaunchContract& contract, const Specification& specification,
                                                    Pass pass) {
  std::vector<std::string> arguments = contract.argument_formulas;
  if (arguments.empty()) arguments = specification.usual_arguments(pass, contract.result_names);
  std::vector<std::string> types;
  for (const std::string& argument : arguments) {
    const auto parameter = std::ranges::find(specification.parameters, argument, &SpecificationParameter::name);
    if (parameter == specification.parameters.end()) {
      if (argument.ends_with(".grad"))
        return Error{fmt::format("'{}' in the contract must be the gradient of an array with floats", argument)};
      types.emplace_back(has_decimal_number(argument) ? "fp32" : "i32");
      continue;
    }
    const std::string_view type = triton_type(parameter->type);
    if (type.empty()) {
      return Error{
          fmt::format("the parameter '{}' of the specification must have a scalar type to be passed to a "
                      "Triton kernel",
                      argument)};
    }
    types.push_back(fmt::format("{}{}", parameter->rank > 0 ? "*" : "", type));
  }
  return types;
}

}  // namespace

TritonCandidateDevice::TritonCandidateDevice(fs::path file, CandidateContract contract, ptx::PtxOptions options,
                                             std::vector<std::string> architectures, const std::string& python)
    : candidate_path_(std::move(file)),
      contract_(std::move(contract)),
      options_(std::move(options)),
      architectures_(architectures.empty() ? std::vector<std::string>{kDefaultTritonArchitecture}
                                           : std::move(architectures)),
      interpreter_(find_triton(python)) {}

Capability TritonCandidateDevice::can_build() const {
  if (!interpreter_.ok()) return {false, interpreter_.error().text()};
  return {true, fmt::format("Triton {}", interpreter_->version)};
}

std::vector<BuildOutcome> TritonCandidateDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags&) {
  std::vector<BuildOutcome> outcomes;
  for (const EmittedKernel& kernel : kernels)
    outcomes.push_back(build_for(kernel));
  return outcomes;
}

BuildOutcome TritonCandidateDevice::build_for(const EmittedKernel& specification) const {
  if (specification.python == nullptr)
    return BuildFailed{BuildFailed::Kind::kRejected, "the kernel's source was generated for a different device"};
  if (!interpreter_.ok()) return BuildFailed{BuildFailed::Kind::kResourceFailure, interpreter_.error().text()};
  BuiltKernel built{.name = candidate_path_.stem().string(),
                    .entry_points = {},
                    .artifacts = {},
                    .target_architectures = architectures_,
                    .log = {}};
  auto forward = add_kernel(built, Pass::kForward, specification);
  if (auto* failed = std::get_if<BuildFailed>(&forward)) return std::move(*failed);
  std::variant<CompiledLaunch, BuildFailed> backward;
  if (contract_.backward && specification.entry_points.size() > 1)
    backward = add_kernel(built, Pass::kBackward, specification);
  if (auto* failed = std::get_if<BuildFailed>(&backward)) return std::move(*failed);
  built.artifacts.push_back(
      describe(*specification.python, std::get<CompiledLaunch>(forward), std::get<CompiledLaunch>(backward)));
  return built;
}

std::variant<CompiledLaunch, BuildFailed> TritonCandidateDevice::add_kernel(BuiltKernel& built, Pass pass,
                                                                            const EmittedKernel& specification) const {
  const bool is_backward = pass == Pass::kBackward;
  const LaunchContract& contract = is_backward ? contract_.backward->launch : contract_.forward;
  Specification parameters = specification_of(*describe(*specification.python), pass);
  if (const Result<void> added = parameters.add_saved_arrays(contract_.saved_arrays); !added.ok())
    return BuildFailed{BuildFailed::Kind::kRejected, added.error().text()};
  const auto types = types_of_arguments(contract, parameters, pass);
  if (!types.ok()) return BuildFailed{BuildFailed::Kind::kUnsupported, types.error().text()};
  CompiledLaunch launch;
  for (const std::string& architecture : architectures_) {
    auto compiled = compile_triton(*interpreter_, {.file = candidate_path_,
                                                   .kernel_name = contract.entry_point_name,
                                                   .argument_types = *types,
                                                   .constexpr_json = contract.constexpr_json,
                                                   .warp_count = contract.warp_count,
                                                   .stage_count = contract.stage_count,
                                                   .architecture = architecture});
    if (auto* failed = std::get_if<BuildFailed>(&compiled)) return std::move(*failed);
    TritonCode& code = std::get<TritonCode>(compiled);
    if (architecture == architectures_.front())
      built.entry_points.push_back(
          {.pass = pass,
           .precision = Precision::kNative,
           .symbol = code.entry_point_name,
           .parameter_count = specification.entry_points[is_backward ? 1 : 0].parameter_types.size()});
    launch.block_threads = code.block_threads;
    launch.shared_bytes[architecture] = code.shared_bytes;
    launch.scratch_bytes[architecture] = code.scratch_bytes;
    built.artifacts.push_back(std::make_shared<const Artifact>(
        Artifact{.kind = Artifact::Kind::kPtx,
                 .architecture = is_backward ? backward_code_name(architecture) : architecture,
                 .path = {},
                 .content = std::move(code.ptx)}));
  }
  // global_scratch and profile_scratch.
  launch.hidden_parameter_count = 2;
  return launch;
}

Result<std::unique_ptr<DeviceSession>> TritonCandidateDevice::open(const SessionLimits& limits) {
  return std::unique_ptr<DeviceSession>(std::make_unique<CandidateSession>(limits, options_, contract_));
}

Result<void> check_triton_contract(const CandidateContract& contract, const fs::path& contract_file) {
  std::vector<std::pair<const LaunchContract*, std::string_view>> launches{{&contract.forward, ""}};
  if (contract.backward) launches.emplace_back(&contract.backward->launch, " in 'backward'");
  for (const auto& [launch, place] : launches) {
    const auto fail = [&](const std::string& message) { return Error{message, contract_file.string()}; };
    if (launch->grid_formulas.empty()) {
      return fail(fmt::format(
          "the contract of a Triton kernel must state 'grid'{}, for example [\"ceil(threads / BLOCK)\"] with the "
          "constexpr parameter BLOCK",
          place));
    }
    const bool returns_tensors = launch == &contract.forward && !launch->result_names.empty();
    const std::array<std::pair<const char*, bool>, 4> without_effect{
        std::pair{"function", !launch->host_function_name.empty()}, std::pair{"block", !launch->block_formulas.empty()},
        std::pair{"shared_bytes", launch->shared_bytes_formula != "0"}, std::pair{"results", returns_tensors}};
    for (const auto& [name, is_stated] : without_effect) {
      if (!is_stated) continue;
      const std::string_view member = name;
      return fail(fmt::format("the contract of a Triton kernel must not state '{}'{}; remove it{}", member, place,
                              member == "block"     ? " and state 'num_warps'"
                              : member == "results" ? " and state 'saved'"
                                                    : ""));
    }
  }
  return {};
}

}  // namespace assay::candidate
