#include "harness/suite/select/python_file.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "harness/judge/inputs/preconditions.hpp"
#include "harness/suite/select/file_contents.hpp"
#include "harness/suite/select/module_finder.hpp"
#include "harness/suite/select/suggest.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".py";

/// Why the kernel could not be read: the first error about it. What other files say comes behind all of its own.
Error reason_of(const frontend::ReadFile& read, const frontend::Declaration& kernel, const std::string& file) {
  for (const frontend::Diagnostic& found : read.diagnostics) {
    if (found.severity != frontend::Severity::kError || found.function != kernel.name) continue;
    return {fmt::format("{}: {}", found.construct, found.reason),
            fmt::format("{}:{}:{}", found.file, found.loc.line, found.loc.column)};
  }
  return {"the kernel could not be read", fmt::format("{}:{}:{}", file, kernel.loc.line, kernel.loc.column)};
}

/// The module's kernel that this declaration became.
std::size_t index_of(const ir::Module& module, const frontend::Declaration& declaration) {
  const auto found = std::ranges::find_if(module.kernels, [&](const ir::Function& kernel) {
    return kernel.name == declaration.name && kernel.loc.line == declaration.loc.line;
  });
  const auto by_name = std::ranges::find(module.kernels, declaration.name, &ir::Function::name);
  return static_cast<std::size_t>((found != module.kernels.end() ? found : by_name) - module.kernels.begin());
}

/// Says of kernels that never ask which thread they are, and would race, that they are for one: in a comment, so that
/// whoever is handed the kernel is told as well.
void state_launches(frontend::ReadFile& read, std::vector<std::string>& notes) {
  for (const frontend::Declaration& declaration : read.declarations) {
    if (!declaration.is_kernel || !declaration.was_read || declaration.asks_for_thread) continue;
    ir::Function& kernel = read.module.kernels[index_of(read.module, declaration)];
    if (!is_for_one_thread(read.module, kernel)) continue;
    kernel.annotations.emplace_back(kOneThread);
    notes.push_back(frontend::Diagnostic{
        .severity = frontend::Severity::kNote,
        .file = read.module.source_name,
        .loc = declaration.loc,
        .function = declaration.name,
        .construct = "",
        .reason = fmt::format("it never calls wp.tid() and its threads would race: judged for one, # {}", kOneThread)}
                        .text());
  }
}

/// The kernels of a text that name something of another file, so that the text alone does not say what they compute.
std::set<std::string> kernels_that_import(const frontend::ReadFile& read, const std::string& text) {
  std::set<std::string> kernels;
  if (read.module.imported_files.empty()) return kernels;
  for (const frontend::Declaration& declaration : read.declarations)
    if (declaration.is_kernel && declaration.was_read) kernels.insert(declaration.name);
  const Result<frontend::ReadFile> alone = frontend::read_python(text, read.module.source_name);
  if (!alone.ok()) return kernels;
  for (const frontend::Declaration& declaration : alone->declarations)
    if (declaration.is_kernel && declaration.was_read) kernels.erase(declaration.name);
  return kernels;
}

Result<PythonKernels> kernels_of(const std::string& text, const std::string& file,
                                 const frontend::ModuleFinder& finder) {
  const auto start = std::chrono::steady_clock::now();
  Result<frontend::ReadFile> read = frontend::read_python(text, file, finder);
  if (!read.ok()) return read.error();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;

  PythonKernels result;
  state_launches(*read, result.notes);
  const std::set<std::string> importing = kernels_that_import(*read, text);
  const auto module = std::make_shared<const ir::Module>(std::move(read->module));
  for (const frontend::Declaration& declaration : read->declarations) {
    if (!declaration.is_kernel) continue;
    KernelSource source{.family = "user", .kernel = declaration.name, .file = file, .python = text};
    if (declaration.was_read) {
      source.module = module;
      source.kernel_index = index_of(*module, declaration);
      const bool is_open = declaration.has_assumptions && declaration.overload.empty();
      if (is_open || importing.contains(declaration.name)) {
        source.python = source::warp::write_kernel(*module, source.kernel_index).value_or(text);
      } else if (!declaration.overload.empty()) {
        source.python = fmt::format("{}\n\n{}\n", text, declaration.overload);
      }
    } else {
      source.unreadable = reason_of(*read, declaration, file);
    }
    result.kernels.push_back(std::move(source));
  }
  for (KernelSource& source : result.kernels)
    source.read_ms = elapsed.count() / static_cast<double>(result.kernels.size());
  for (const frontend::Diagnostic& found : read->diagnostics) {
    if (found.severity == frontend::Severity::kNote) result.notes.push_back(found.text());
  }
  return result;
}

}  // namespace

std::optional<FileSelector> file_selector(std::string_view text) {
  if (const std::size_t at = text.rfind(".py:"); at != std::string_view::npos) {
    return FileSelector{std::string(text.substr(0, at + kSuffix.size())), std::string(text.substr(at + 4))};
  }
  std::error_code error;
  if (text.ends_with(kSuffix) || (fs::exists(text, error) && !fs::is_directory(text, error))) {
    return FileSelector{std::string(text), ""};
  }
  return std::nullopt;
}

Result<PythonKernels> read_text(const std::string& text, const std::string& file) { return kernels_of(text, file, {}); }

Result<PythonKernels> read_file(const FileSelector& selector) {
  const Result<std::string> text = python_file_contents(selector.path);
  if (!text.ok()) return text.error();
  Result<PythonKernels> read = kernels_of(*text, selector.path, module_finder());
  if (!read.ok()) return read;
  if (read->kernels.empty()) {
    return Error{"holds no kernel; expected a function with the decorator @wp.kernel", selector.path};
  }
  if (!selector.kernel.empty()) {
    std::vector<std::string> names;
    for (const KernelSource& source : read->kernels)
      names.push_back(source.kernel);
    std::erase_if(read->kernels, [&](const KernelSource& source) { return source.kernel != selector.kernel; });
    if (read->kernels.empty()) {
      return Error{fmt::format("has no kernel '{}', but {}{}", selector.kernel, fmt::join(names, ", "),
                               did_you_mean(selector.kernel, names)),
                   selector.path};
    }
  }
  const std::string stem = fs::path(selector.path).stem().string();
  for (KernelSource& source : read->kernels) {
    source.selector = fmt::format("{}:{}", selector.path, source.kernel);
    source.kernel = fmt::format("{}.{}", stem, source.kernel);
  }
  return read;
}

}  // namespace assay::harness
