#include "harness/suite/select/kernel_file.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "backends/source/warp/writer.hpp"
#include "frontend/interface/frontend.hpp"
#include "harness/judge/inputs/preconditions.hpp"
#include "harness/suite/select/source_files.hpp"
#include "harness/suite/select/suggest.hpp"
#include "ir/source_location.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

/// The language of a file by its suffix; the first language for unknown suffixes.
const frontend::LanguageFrontend& language_of(const std::string& file) {
  const frontend::LanguageFrontend* const row = frontend::frontend_of(file);
  return row != nullptr ? *row : frontend::frontends().front();
}

/// Why the kernel could not be parsed: the first error about it. Errors in its own file take precedence over others.
Error reason_of(const frontend::ParsedFile& read, const frontend::FunctionDeclaration& kernel) {
  for (const frontend::Diagnostic& found : read.diagnostics) {
    if (found.severity != frontend::Severity::kError || found.function != kernel.name) continue;
    return {fmt::format("{}: {}", found.construct_excerpt, found.reason),
            fmt::format("{}:{}:{}", found.file, found.loc.line, found.loc.column)};
  }
  return {"the kernel could not be parsed", ir::location_text(read.module, kernel.loc)};
}

/// The index of the module's kernel for this declaration.
std::size_t index_of(const ir::Module& module, const frontend::FunctionDeclaration& declaration) {
  const auto found = std::ranges::find_if(module.kernels, [&](const ir::Function& kernel) {
    return kernel.name == declaration.name && kernel.loc.line == declaration.loc.line;
  });
  const auto by_name = std::ranges::find(module.kernels, declaration.name, &ir::Function::name);
  return static_cast<std::size_t>((found != module.kernels.end() ? found : by_name) - module.kernels.begin());
}

/// Whether the kernel reads its thread indices.
bool reads_thread_index(const ir::Function& kernel) {
  return std::ranges::any_of(kernel.expressions, [&](const ir::Expr& expr) {
    const int number = expr.variable - kernel.parameter_count;
    return expr.kind == ir::ExprKind::kVariable && number >= 0 && number < kernel.launch_rank;
  });
}

/// Annotates kernels whose threads all do the same and would race with a one-thread launch, in a comment, so that it
/// stays with the kernel's source.
void state_launches(frontend::ParsedFile& read, std::vector<std::string>& notes) {
  for (const frontend::FunctionDeclaration& declaration : read.declarations) {
    if (!declaration.is_kernel || !declaration.is_parsed) continue;
    ir::Function& kernel = read.module.kernels[index_of(read.module, declaration)];
    const bool uses_index = declaration.uses_thread_index && (kernel.launch_rank > 1 || reads_thread_index(kernel));
    if (uses_index || !requires_single_thread(read.module, kernel)) continue;
    kernel.annotations.emplace_back(kSingleThreadAnnotation);
    const ir::SourceLocation place = ir::source_location(read.module, declaration.loc);
    notes.push_back(frontend::Diagnostic{
        .severity = frontend::Severity::kNote,
        .file = std::string(place.file),
        .loc = place.loc,
        .function = declaration.name,
        .construct_excerpt = "",
        .reason = fmt::format("kernel never {} wp.tid(); launching one thread to avoid a race (# {})",
                              declaration.uses_thread_index ? "uses the result of" : "calls", kSingleThreadAnnotation)}
                        .text());
  }
}

/// The kernels of a text that use names from another file, so that the text alone does not define them.
std::set<std::string> kernels_that_import(const frontend::LanguageFrontend& language, const frontend::ParsedFile& read,
                                          const std::string& text) {
  std::set<std::string> kernels;
  if (read.module.imported_files.empty()) return kernels;
  for (const frontend::FunctionDeclaration& declaration : read.declarations)
    if (declaration.is_kernel && declaration.is_parsed) kernels.insert(declaration.name);
  const Result<frontend::ParsedFile> alone = language.parse(text, read.module.source_name, {});
  if (!alone.ok()) return kernels;
  for (const frontend::FunctionDeclaration& declaration : alone->declarations)
    if (declaration.is_kernel && declaration.is_parsed) kernels.erase(declaration.name);
  return kernels;
}

Result<KernelSet> kernels_of(const std::string& text, const std::string& file, const frontend::ModuleFinder& finder) {
  const auto start = std::chrono::steady_clock::now();
  const frontend::LanguageFrontend& language = language_of(file);
  Result<frontend::ParsedFile> read = language.parse(text, file, finder);
  if (!read.ok()) return read.error();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;

  KernelSet result;
  state_launches(*read, result.notes);
  const std::set<std::string> importing = kernels_that_import(language, *read, text);
  const auto module = std::make_shared<const ir::Module>(std::move(read->module));
  for (const frontend::FunctionDeclaration& declaration : read->declarations) {
    if (!declaration.is_kernel) continue;
    KernelSource source{
        .family = "user", .kernel = declaration.name, .file = file, .python = text, .own_text_obstacle = {}};
    if (declaration.is_parsed) {
      source.module = module;
      source.kernel_index = index_of(*module, declaration);
      const bool is_open = declaration.has_assumptions && declaration.suggested_overload.empty();
      if (!language.is_python || is_open || importing.contains(declaration.name)) {
        source.python = source::warp::write_kernel(*module, source.kernel_index).value_or(text);
        source.own_text_obstacle = !language.is_python ? "the file is not a Python file"
                                   : is_open           ? "Assay assumed types or values that the file does not state"
                                                       : "the kernel uses names from other files";
      } else if (!declaration.suggested_overload.empty()) {
        source.python = fmt::format("{}\n\n{}\n", text, declaration.suggested_overload);
      }
    } else {
      source.parse_error = reason_of(*read, declaration);
    }
    result.kernels.push_back(std::move(source));
  }
  for (KernelSource& source : result.kernels)
    source.parse_ms = elapsed.count() / static_cast<double>(result.kernels.size());
  for (const frontend::Diagnostic& found : read->diagnostics) {
    if (found.severity == frontend::Severity::kNote) result.notes.push_back(found.text());
  }
  return result;
}

}  // namespace

std::optional<FileSelector> file_selector(std::string_view text) {
  for (const frontend::LanguageFrontend& language : frontend::frontends()) {
    const std::size_t at = text.rfind(fmt::format("{}:", language.suffix));
    if (at == std::string_view::npos) continue;
    const std::size_t end = at + language.suffix.size();
    return FileSelector{std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
  }
  std::error_code error;
  if (fs::is_directory(text, error)) return std::nullopt;
  if (frontend::frontend_of(text) != nullptr || fs::exists(text, error)) {
    return FileSelector{std::string(text), ""};
  }
  return std::nullopt;
}

Result<KernelSet> read_text(const std::string& text, const std::string& file) { return kernels_of(text, file, {}); }

Result<KernelSet> kernels_in(const std::string& path) {
  const Result<std::string> text = source_file_contents(path, language_of(path));
  if (!text.ok()) return text.error();
  Result<KernelSet> read = kernels_of(*text, path, module_finder());
  if (!read.ok()) return read;
  for (const std::string& changed : changed_origins(*text)) {
    read->notes.push_back(
        fmt::format("{}: has changed since {} was exported; line numbers refer to its earlier version", changed, path));
  }
  const std::string stem = fs::path(path).stem().string();
  for (KernelSource& source : read->kernels) {
    source.selector = fmt::format("{}:{}", path, source.kernel);
    source.kernel = fmt::format("{}.{}", stem, source.kernel);
  }
  return read;
}

Result<KernelSet> read_file(const FileSelector& selector) {
  Result<KernelSet> read = kernels_in(selector.path);
  if (!read.ok()) return read;
  if (read->kernels.empty()) {
    return Error{fmt::format("no kernel found; expected {}", language_of(selector.path).kernel_description),
                 selector.path};
  }
  if (selector.kernel.empty()) return read;
  const std::size_t prefix = fs::path(selector.path).stem().string().size() + 1;
  std::vector<std::string> names;
  for (const KernelSource& source : read->kernels)
    names.push_back(source.kernel.substr(prefix));
  std::erase_if(read->kernels,
                [&](const KernelSource& source) { return source.kernel.substr(prefix) != selector.kernel; });
  if (read->kernels.empty()) {
    return Error{fmt::format("unknown kernel '{}'; the file defines {}{}", selector.kernel, fmt::join(names, ", "),
                             did_you_mean(selector.kernel, names)),
                 selector.path};
  }
  return read;
}

Result<KernelSource> curated_kernel(const conformance::CaseFile& curated) {
  Result<KernelSet> read = read_text(std::string(curated.text), std::string(curated.path));
  if (!read.ok()) return read.error();
  if (read->kernels.size() != 1) {
    return Error{fmt::format("internal error: a curated case must contain one kernel, got {}", read->kernels.size()),
                 std::string(curated.path)};
  }
  KernelSource source = std::move(read->kernels.front());
  source.family = curated.family;
  source.kernel = curated.name;
  source.selector = fmt::format("{}/{}", curated.family, curated.name);
  return source;
}

}  // namespace assay::harness
