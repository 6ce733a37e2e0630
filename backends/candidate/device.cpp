#include "backends/candidate/device.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/host/compiler.hpp"
#include "backends/candidate/host/kernel_names.hpp"
#include "backends/candidate/host_device.hpp"
#include "backends/candidate/session.hpp"
#include "backends/candidate/source.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/candidate/triton/kernel_file.hpp"
#include "backends/candidate/triton_device.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/artifact_files.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::candidate {

using namespace backends;
namespace fs = std::filesystem;

namespace {

/// Part of all messages of NVRTC about a header that it does not find.
constexpr std::string_view kMissingHeader = "open source file";
/// Part of all messages of NVRTC about functions of the host, which it does not compile.
constexpr std::string_view kRejectedHostFunction = "JIT mode";
/// Part of the messages of nvcc about a header that it does not find.
constexpr std::string_view kMissingHeaderOfNvcc = "No such file or directory";
constexpr std::string_view kNoKernel = "the candidate has no kernel; it must have a __global__ function";

std::optional<std::string> content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool is_ptx(const fs::path& path) { return path.extension() == ".ptx"; }

/// The symbol of the entry with this name, of the only one if the name is empty. `member`: where a contract states the
/// name.
Result<std::string> entry_of(const ptx::Module& module, const std::string& wanted, std::string_view member) {
  std::vector<std::string> names;
  std::string found;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry) continue;
    const std::string name = plain_name(function.name);
    // The headers of CUB have kernels, too.
    if (name != wanted && (name.starts_with("cub::") || name.starts_with("thrust::"))) continue;
    names.push_back(name);
    if (wanted.empty() || wanted == function.name || wanted == names.back()) found = function.name;
  }
  if (names.empty()) return Error{std::string(kNoKernel)};
  if (wanted.empty() && names.size() > 1)
    return Error{fmt::format("the candidate has several kernels ({}); choose one with {} in the contract",
                             fmt::join(names, ", "), member)};
  if (found.empty())
    return Error{fmt::format("the candidate has no kernel '{}'; its kernels are {}", wanted, fmt::join(names, ", "))};
  return found;
}

bool is_triton_file(const fs::path& file) {
  return file.extension() == ".py" && defines_triton_kernel(content_of(file).value_or(""));
}

/// Fails if the contract of a program states how to call a function or a kernel.
Result<void> check_program_contract(const CandidateContract& contract, const fs::path& file) {
  std::vector<std::string_view> members;
  const auto add = [&](bool is_stated, std::string_view name) {
    if (is_stated) members.push_back(name);
  };
  const LaunchContract& launch = contract.forward;
  add(!launch.entry_point_name.empty(), "'entry'");
  add(!launch.argument_formulas.empty(), "'arguments'");
  add(!launch.result_names.empty(), "'results'");
  add(!launch.grid_formulas.empty(), "'grid'");
  add(!launch.block_formulas.empty(), "'block'");
  add(launch.shared_bytes_formula != "0", "'shared_bytes'");
  add(launch.has_triton_members(), "the members for Triton kernels");
  add(!contract.saved_arrays.empty(), "'saved'");
  add(contract.backward.has_value(), "'backward'");
  if (members.empty()) return {};
  return Error{
      fmt::format("the candidate has a main(), which starts its kernels; remove {} from its contract, or state "
                  "a 'function'",
                  fmt::join(members, ", ")),
      contract_path(file).string()};
}

/// Fails if the contract states something that has no effect on this kind of candidate.
Result<void> check_kind(const CandidateContract& contract, const fs::path& file) {
  if (is_program(file, contract.forward)) return check_program_contract(contract, file);
  if (contract.program.states_anything())
    return Error{"only the contract of a program with main() may state 'program_arguments' and 'parameters'",
                 contract_path(file).string()};
  if (is_triton_file(file)) return check_triton_contract(contract, contract_path(file));
  const bool has_host = has_host_code(file, contract.forward);
  std::vector<std::pair<const LaunchContract*, std::string_view>> launches{{&contract.forward, ""}};
  if (contract.backward) launches.emplace_back(&contract.backward->launch, " in 'backward'");
  for (const auto& [launch, place] : launches) {
    const auto fail = [&, where = place](std::string_view text) {
      return Error{fmt::format("{}{}", text, where), contract_path(file).string()};
    };
    if (launch->has_triton_members())
      return fail("only the contract of a Triton kernel may state 'constexpr', 'num_warps' and 'num_stages'");
    if (!has_host && !launch->host_function_name.empty())
      return fail("the candidate has no host code, so its contract must state 'entry' instead of 'function'");
    if (has_host && launch == &contract.forward) continue;
    if (has_host && (!launch->entry_point_name.empty() || !launch->grid_formulas.empty() ||
                     !launch->block_formulas.empty() || launch->shared_bytes_formula != "0")) {
      return fail(
          "the candidate has host code, so its contract must state a 'function' instead of 'entry', 'grid', 'block' "
          "and 'shared_bytes'");
    }
    if (!has_host && launch == &contract.forward && !launch->result_names.empty())
      return fail("a kernel returns nothing, so its contract must state 'saved' instead of 'results'");
  }
  return {};
}

}  // namespace

Capability CandidateDevice::can_build() const {
  if (is_ptx(candidate_path_)) return {true, "PTX interpreted on the CPU"};
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(options_.nvrtc_version_or_path);
  if (!nvrtc.ok()) return {false, nvrtc.error().message};
  return {true, fmt::format("NVRTC {}", nvrtc->version())};
}

std::variant<std::string, BuildFailed> CandidateDevice::compile_with_nvcc(const std::string& architecture,
                                                                          const BuildFlags& flags) const {
  const Result<HostCompiler> nvcc = find_host_compiler("");
  if (!nvcc.ok()) return BuildFailed{BuildFailed::Kind::kResourceFailure, nvcc.error().text()};
  const auto folder =
      make_artifact_directory(options_.cache_directory.empty() ? default_cache_directory() : options_.cache_directory);
  if (!folder.ok()) return BuildFailed{BuildFailed::Kind::kResourceFailure, folder.error().text()};
  const cuda::NvrtcOptions nvrtc{.architecture = architecture, .flags = flags, .emit_line_info = true};
  return compile_to_ptx(*nvcc, cuda::nvrtc_arguments(nvrtc), candidate_path_, folder->path());
}

std::variant<std::vector<CandidatePtx>, BuildFailed> CandidateDevice::compile(const BuildFlags& flags) const {
  std::optional<std::string> text = content_of(candidate_path_);
  if (!text) return BuildFailed{BuildFailed::Kind::kResourceFailure, "cannot read " + candidate_path_.string()};
  std::vector<CandidatePtx> code;
  if (is_ptx(candidate_path_)) {
    code.push_back({.architecture = "ptx", .ptx = *std::move(text)});
    return code;
  }
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(options_.nvrtc_version_or_path);
  if (!nvrtc.ok()) return BuildFailed{BuildFailed::Kind::kResourceFailure, nvrtc.error().message};
  const std::string name = candidate_path_.filename().string();
  const std::vector<fs::path> headers = toolkit_headers();
  const std::string source = for_nvrtc(*text, name, !headers.empty());
  // The candidate's own headers come first, as with nvcc.
  std::error_code error;
  std::vector<fs::path> include_folders{fs::absolute(candidate_path_, error).parent_path()};
  include_folders.insert(include_folders.end(), headers.begin(), headers.end());
  for (const std::string& architecture : options_.architectures) {
    if (!nvrtc->supports(architecture)) continue;
    cuda::CompileOutcome compiled = nvrtc->compile(
        source, name,
        {.architecture = architecture, .flags = flags, .emit_line_info = true, .include_folders = include_folders});
    if (auto* failed = std::get_if<BuildFailed>(&compiled)) {
      const bool misses_header = failed->log.find(kMissingHeader) != std::string::npos;
      if (headers.empty() && misses_header) {
        failed->kind = BuildFailed::Kind::kUnsupported;
        failed->log = "the candidate includes headers that need the CUDA Toolkit; run ci/setup-nvcc: " + failed->log;
        return std::move(*failed);
      }
      if (!misses_header && text->find("__global__") == std::string::npos) {
        // NVRTC would only report that it compiles no host functions.
        failed->log = kNoKernel;
        return std::move(*failed);
      }
      // nvcc also has the headers of the C++ library, and ignores functions of the host. With --nvrtc, the outcome must
      // be that of the chosen compiler.
      const bool is_limit = misses_header || failed->log.find(kRejectedHostFunction) != std::string::npos;
      const bool may_need_nvcc = is_limit || text->find("#include") != std::string::npos;
      if (headers.empty() || !may_need_nvcc || !options_.nvrtc_version_or_path.empty()) return std::move(*failed);
      auto by_nvcc = compile_with_nvcc(architecture, flags);
      if (auto* ptx = std::get_if<std::string>(&by_nvcc)) {
        code.push_back({.architecture = architecture, .ptx = std::move(*ptx)});
        continue;
      }
      auto& failed_too = std::get<BuildFailed>(by_nvcc);
      const bool explains_more = is_limit && failed_too.kind != BuildFailed::Kind::kResourceFailure &&
                                 failed_too.log.find(kMissingHeaderOfNvcc) == std::string::npos;
      return explains_more || failed_too.kind == BuildFailed::Kind::kUnsupported ? std::move(failed_too)
                                                                                 : std::move(*failed);
    }
    code.push_back({.architecture = architecture, .ptx = std::move(std::get<cuda::CompiledCode>(compiled).ptx)});
  }
  if (code.empty()) {
    return BuildFailed{BuildFailed::Kind::kResourceFailure,
                       fmt::format("NVRTC {} supports none of the architectures {}", nvrtc->version(),
                                   fmt::join(options_.architectures, ", "))};
  }
  return code;
}

std::vector<BuildOutcome> CandidateDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  auto compiled = compile(flags);
  if (auto* failed = std::get_if<BuildFailed>(&compiled)) return std::vector<BuildOutcome>(kernels.size(), *failed);
  BuiltKernel code{.name = candidate_path_.stem().string(),
                   .entry_points = {},
                   .artifacts = {},
                   .target_architectures = {},
                   .log = {}};
  for (CandidatePtx& one : std::get<std::vector<CandidatePtx>>(compiled)) {
    const Result<ptx::Module> module = ptx::parse(one.ptx, candidate_path_.filename().string());
    if (!module.ok())
      return std::vector<BuildOutcome>(kernels.size(),
                                       BuildFailed{BuildFailed::Kind::kRejected, module.error().text()});
    const Result<std::string> entry = entry_of(*module, contract_.forward.entry_point_name, "'entry'");
    Result<std::string> backward = std::string();
    if (contract_.backward)
      backward = entry_of(*module, contract_.backward->launch.entry_point_name, "'entry' of 'backward'");
    for (const Result<std::string>* const found : {&entry, &std::as_const(backward)})
      if (!found->ok())
        return std::vector<BuildOutcome>(kernels.size(),
                                         BuildFailed{BuildFailed::Kind::kRejected, found->error().text()});
    if (code.entry_points.empty()) {
      code.entry_points.push_back({.pass = Pass::kForward, .precision = Precision::kNative, .symbol = *entry});
      if (contract_.backward)
        code.entry_points.push_back({.pass = Pass::kBackward, .precision = Precision::kNative, .symbol = *backward});
    }
    code.target_architectures.push_back(one.architecture);
    code.artifacts.push_back(std::make_shared<const Artifact>(Artifact{
        .kind = Artifact::Kind::kPtx, .architecture = one.architecture, .path = {}, .content = std::move(one.ptx)}));
  }
  std::vector<BuildOutcome> outcomes;
  for (const EmittedKernel& kernel : kernels) {
    if (kernel.python == nullptr) {
      outcomes.emplace_back(
          BuildFailed{BuildFailed::Kind::kRejected, "the kernel's source was generated for a different device"});
      continue;
    }
    BuiltKernel built = code;
    // The harness passes the parameters of the specification.
    built.entry_points.resize(std::min(built.entry_points.size(), kernel.entry_points.size()));
    for (std::size_t i = 0; i < built.entry_points.size(); ++i)
      built.entry_points[i].parameter_count = kernel.entry_points[i].parameter_types.size();
    built.artifacts.push_back(describe(*kernel.python));
    outcomes.emplace_back(std::move(built));
  }
  return outcomes;
}

Result<std::unique_ptr<DeviceSession>> CandidateDevice::open(const SessionLimits& limits) {
  return std::unique_ptr<DeviceSession>(std::make_unique<CandidateSession>(limits, options_, contract_));
}

Result<std::unique_ptr<Device>> make_device(const DeviceOptions& options) {
  if (options.candidate_path.empty())
    return Error{"no candidate is given; use assay judge CANDIDATE --against SPEC.py"};
  if (!content_of(options.candidate_path)) return Error{"cannot read the candidate", options.candidate_path};
  const fs::path file(options.candidate_path);
  if (!is_ptx(file) && file.extension() != ".cu" && file.extension() != ".py") {
    return Error{
        "the candidate must be a CUDA source (.cu), PTX (.ptx), or a Python file that has a Triton kernel or calls "
        "load_inline (.py)",
        options.candidate_path};
  }
  Result<CandidateContract> contract = contract_of(file);
  if (!contract.ok()) return contract.error();
  if (const Result<void> fits = check_kind(*contract, file); !fits.ok()) return fits.error();
  const bool is_triton = is_triton_file(file);
  std::vector<std::string> architectures = options.architectures;
  if (architectures.empty() && !contract->architecture.empty()) architectures = {contract->architecture};
  ptx::PtxOptions ptx_options{.checks = ptx::checks_without(options.disabled_checks)};
  ptx_options.nvrtc_version_or_path = options.nvrtc_version_or_path;
  ptx_options.cache_directory = options.cache_directory;
  if (is_triton) {
    return std::unique_ptr<Device>(std::make_unique<TritonCandidateDevice>(
        file, contract.take(), std::move(ptx_options), std::move(architectures), options.python_interpreter));
  }
  if (has_host_code(file, contract->forward)) {
    return std::unique_ptr<Device>(
        std::make_unique<HostCandidateDevice>(file, contract.take(), std::move(ptx_options), std::move(architectures),
                                              options.python_interpreter, options.cuda_compiler));
  }
  if (!architectures.empty()) ptx_options.architectures = std::move(architectures);
  return std::unique_ptr<Device>(std::make_unique<CandidateDevice>(file, contract.take(), std::move(ptx_options)));
}

}  // namespace assay::candidate
