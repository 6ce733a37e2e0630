#include "backends/candidate/host_device.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <ranges>
#include <system_error>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/host/executed_source.hpp"
#include "backends/candidate/host/host_functions.hpp"
#include "backends/candidate/host_session.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/device/artifact_files.hpp"
#include "backends/worker/confinement.hpp"
#include "support/hash.hpp"

namespace assay::candidate {

using namespace backends;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kCacheBytes = std::uint64_t{1} << 30U;
constexpr std::size_t kLoaderBufferBytes = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds kLoadLimit{10'000};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The number of the last line that contains the word; nullopt if none does. A declaration comes before the call.
std::optional<std::size_t> line_with(std::string_view text, std::string_view word) {
  const auto is_part_of_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(word, at - 1)) {
    if ((at == 0 || !is_part_of_word(at - 1)) && !is_part_of_word(at + word.size()))
      return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
  }
  return std::nullopt;
}

fs::path directory_of_cache(const ptx::PtxOptions& options) {
  return options.cache_directory.empty() ? default_cache_directory() : options.cache_directory;
}

/// The source of a CUDA file with host code.
HostSource cuda_source(const fs::path& file, const LaunchContract& contract) {
  HostSource source;
  if (is_program(file, contract)) {
    source.text = fmt::format("#line 1 \"{}\"\n{}\n", file.filename().string(), text_of(file));
    source.is_program = true;
    return source;
  }
  source.text = fmt::format("#include <torch/extension.h>\n#include <cuda_runtime.h>\n#line 1 \"{}\"\n{}\n",
                            file.filename().string(), text_of(file));
  source.functions = pybind_functions(source.text);
  if (!source.functions.empty()) return source;
  std::vector<std::string> names = extern_c_functions(source.text);
  if (names.empty()) names = tensor_functions(source.text);
  for (const std::string& name : names)
    source.functions.push_back({.python_name = name, .cpp_name = name});
  // Further functions are known only to the contract.
  if (!contract.host_function_name.empty()) source.functions.clear();
  return source;
}

bool includes_torch(const std::string& text) { return text.find("<torch/") != std::string::npos; }

/// The C++ name of a function: of the stated one, or else of `preferred` or the only function. Without a list of
/// functions, the stated name.
Result<std::string> function_of(const HostSource& source, const std::string& stated, std::string_view preferred) {
  const std::vector<HostFunction>& known = source.functions;
  const auto names = known | std::views::transform(&HostFunction::python_name);
  const auto find = [&](std::string_view name) {
    return std::ranges::find_if(
        known, [&](const HostFunction& function) { return function.python_name == name || function.cpp_name == name; });
  };
  if (!stated.empty()) {
    if (known.empty()) return stated;
    if (const auto found = find(stated); found != known.end()) return found->cpp_name;
    return Error{
        fmt::format("the candidate has no function '{}'; its functions are {}", stated, fmt::join(names, ", "))};
  }
  if (const auto found = find(preferred); found != known.end()) return found->cpp_name;
  if (known.size() == 1) return known.front().cpp_name;
  if (known.empty())
    return Error{
        "cannot determine which function to call; state it as 'function' in the contract, the .assay.json file next to "
        "the candidate"};
  return Error{fmt::format("the candidate has several functions ({}); choose one with 'function' in the contract",
                           fmt::join(names, ", "))};
}

/// Whether only the import of a Python file shows its sources.
bool needs_execution(const Error& error, std::string_view python) {
  const auto says = [&](std::string_view text) { return error.message.find(text) != std::string::npos; };
  return says(kNeedsExecution) || (says(kCallsNoLoadInline) && python.find("cpp_extension") != std::string_view::npos);
}

/// The function of the backward pass.
Result<std::string> backward_function_of(const HostSource& source, const BackwardContract& contract) {
  constexpr const char* kDefaultName = "backward";
  const std::string& stated = contract.launch.host_function_name;
  return function_of(source, stated.empty() ? kDefaultName : stated, kDefaultName);
}

}  // namespace

bool has_host_code(const fs::path& file, const LaunchContract& contract) {
  if (file.extension() == ".py") return true;
  if (file.extension() != ".cu") return false;
  if (!contract.host_function_name.empty()) return true;
  const std::string text = text_of(file);
  if (includes_torch(text) || defines_main(text)) return true;
  // A contract with a grid is about a kernel.
  return contract.grid_formulas.empty() && contract.entry_point_name.empty() && !extern_c_functions(text).empty();
}

bool is_program(const fs::path& file, const LaunchContract& contract) {
  if (file.extension() != ".cu" || !contract.host_function_name.empty()) return false;
  const std::string text = text_of(file);
  return !includes_torch(text) && defines_main(text);
}

HostCandidateDevice::HostCandidateDevice(fs::path file, CandidateContract contract, ptx::PtxOptions options,
                                         std::vector<std::string> architectures, std::string python,
                                         const std::string& compiler)
    : candidate_path_(std::move(file)),
      contract_(std::move(contract)),
      options_(std::move(options)),
      architectures_(architectures.empty() ? std::vector<std::string>{kDefaultArchitecture} : std::move(architectures)),
      python_(std::move(python)),
      compiler_(find_host_compiler(compiler)),
      scratch_(make_artifact_directory(directory_of_cache(options_))) {
  if (auto opened = BuildCache::open(directory_of_cache(options_), kCacheBytes); opened.ok()) cache_ = opened.take();
}

Capability HostCandidateDevice::can_build() const {
  if (!compiler_.ok()) return {false, compiler_.error().text()};
  if (!scratch_.ok()) return {false, scratch_.error().text()};
  return {true, compiler_->text()};
}

std::vector<BuildOutcome> HostCandidateDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags&) {
  const auto all_failed = [&](BuildFailed::Kind kind, std::string log) {
    return std::vector<BuildOutcome>(kernels.size(), BuildFailed{kind, std::move(log)});
  };
  if (const Capability capability = can_build(); !capability.is_available)
    return all_failed(BuildFailed::Kind::kResourceFailure, capability.tool_or_reason);
  const bool is_python = candidate_path_.extension() == ".py";
  Result<HostSource> source = is_python
                                  ? read_load_inline(text_of(candidate_path_), candidate_path_.filename().string())
                                  : Result<HostSource>(cuda_source(candidate_path_, contract_.forward));
  if (!source.ok() && is_python && needs_execution(source.error(), text_of(candidate_path_))) {
    Result<HostSource> imported = import_load_inline(candidate_path_, python_);
    if (!imported.ok())
      return all_failed(BuildFailed::Kind::kUnsupported,
                        fmt::format("{}; {}", source.error().text(), imported.error().text()));
    source = std::move(imported);
  }
  if (!source.ok()) return all_failed(BuildFailed::Kind::kRejected, source.error().text());
  const Result<std::string> function = source->is_program
                                           ? Result<std::string>("main")
                                           : function_of(*source, contract_.forward.host_function_name, "forward");
  if (!function.ok()) return all_failed(BuildFailed::Kind::kRejected, function.error().text());
  Result<std::string> backward = std::string();
  if (contract_.backward) backward = backward_function_of(*source, *contract_.backward);
  if (!backward.ok()) return all_failed(BuildFailed::Kind::kRejected, backward.error().text());
  BuiltKernel code{.name = candidate_path_.stem().string(),
                   .entry_points = {},
                   .artifacts = {},
                   .target_architectures = {},
                   .log = {}};
  for (const std::string& architecture : architectures_) {
    auto library = find_or_build_library({.source = &*source,
                                          .host_function_name = *function,
                                          .backward_function_name = *backward,
                                          .architecture = architecture,
                                          .cuda_file = is_python ? fs::path() : candidate_path_});
    if (auto* failed = std::get_if<BuildFailed>(&library))
      return std::vector<BuildOutcome>(kernels.size(), std::move(*failed));
    code.target_architectures.push_back(architecture);
    code.artifacts.push_back(std::make_shared<const Artifact>(std::get<Artifact>(std::move(library))));
  }
  std::vector<BuildOutcome> outcomes;
  for (const EmittedKernel& kernel : kernels) {
    if (kernel.python == nullptr) {
      outcomes.emplace_back(
          BuildFailed{BuildFailed::Kind::kRejected, "the kernel's source was generated for a different device"});
      continue;
    }
    BuiltKernel built = code;
    built.entry_points.push_back({.pass = Pass::kForward,
                                  .precision = Precision::kNative,
                                  .symbol = *function,
                                  .parameter_count = kernel.entry_points.front().parameter_types.size()});
    if (contract_.backward && kernel.entry_points.size() > 1)
      built.entry_points.push_back({.pass = Pass::kBackward,
                                    .precision = Precision::kNative,
                                    .symbol = *backward,
                                    .parameter_count = kernel.entry_points[1].parameter_types.size()});
    built.artifacts.push_back(describe(*kernel.python));
    outcomes.emplace_back(std::move(built));
  }
  return outcomes;
}

std::variant<Artifact, BuildFailed> HostCandidateDevice::find_or_build_library(const LibraryBuildRequest& request) {
  const int number = next_library_number_.fetch_add(1);
  const fs::path folder = scratch_->path() / fmt::format("candidate_{}", number);
  const fs::path library = scratch_->path() / fmt::format("candidate_{}.so", number);
  Artifact artifact{
      .kind = Artifact::Kind::kSharedLibrary, .architecture = request.architecture, .path = library, .content = {}};
  const std::string key = sha256_hex(library_identity(request, *compiler_));
  if (cache_ != nullptr && cache_->fetch(key, library) && !try_loading(library)) return artifact;
  std::error_code ignored;
  fs::remove(library, ignored);
  fs::create_directories(folder, ignored);
  const fs::path runtime = scratch_->path() / fmt::format("runtime_{}.o", number);
  auto built = find_or_build_runtime(request, folder, runtime);
  if (!std::holds_alternative<BuildFailed>(built)) built = build_library(request, *compiler_, runtime, folder, library);
  fs::remove_all(folder, ignored);
  fs::remove(runtime, ignored);
  if (auto* failed = std::get_if<BuildFailed>(&built)) return std::move(*failed);
  if (auto failure = try_loading(library)) return *std::move(failure);
  // A failed cache write only costs time in the next run.
  if (cache_ != nullptr) static_cast<void>(cache_->store(key, library));
  return artifact;
}

std::variant<std::string, BuildFailed> HostCandidateDevice::find_or_build_runtime(const LibraryBuildRequest& request,
                                                                                  const fs::path& folder,
                                                                                  const fs::path& object) {
  const std::string key = sha256_hex(runtime_identity(request, *compiler_));
  if (cache_ != nullptr && cache_->fetch(key, object)) return std::string();
  auto built = build_runtime(request, *compiler_, folder, object);
  if (cache_ != nullptr && !std::holds_alternative<BuildFailed>(built)) static_cast<void>(cache_->store(key, object));
  return built;
}

std::optional<BuildFailed> HostCandidateDevice::try_loading(const fs::path& library) {
  auto session = open_host_workers({.buffer_bytes = kLoaderBufferBytes}, scratch_->path());
  if (!session.ok()) return BuildFailed{BuildFailed::Kind::kResourceFailure, session.error().text()};
  const RunOutcome outcome = (*session)->load(library.native(), kLoadLimit);
  if (std::holds_alternative<Completed>(outcome)) return std::nullopt;
  const std::string reason = backends::describe(outcome);
  constexpr std::string_view kUndefined = "undefined symbol: ";
  if (const std::size_t at = reason.find(kUndefined); at != std::string::npos) {
    const std::string symbol = reason.substr(at + kUndefined.size());
    const std::optional<std::size_t> line = line_with(text_of(candidate_path_), symbol);
    const std::string place = line ? fmt::format("{}:{}: ", candidate_path_.filename().string(), *line) : std::string();
    return BuildFailed{BuildFailed::Kind::kUnsupported,
                       fmt::format("{}the host code calls '{}', which Assay does not provide", place, symbol)};
  }
  return BuildFailed{BuildFailed::Kind::kCrashed, "loading the compiled candidate failed: " + reason};
}

Result<std::unique_ptr<DeviceSession>> HostCandidateDevice::open(const SessionLimits& limits) {
  if (!scratch_.ok()) return scratch_.error();
  auto workers = open_host_workers(limits, scratch_->path());
  if (!workers.ok()) return workers.error();
  return std::unique_ptr<DeviceSession>(std::make_unique<HostCandidateSession>(
      workers.take(), options_, contract_, is_program(candidate_path_, contract_.forward)));
}

std::string HostCandidateDevice::confinement() {
  if (!scratch_.ok()) return {};
  const auto session = open_host_workers({.buffer_bytes = kLoaderBufferBytes}, scratch_->path());
  return session.ok() ? worker::describe((*session)->confinement()) : std::string();
}

}  // namespace assay::candidate
