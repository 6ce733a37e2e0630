#include "cli/import_options.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/worker/confinement.hpp"
#include "cli/command.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/select/suggest.hpp"
#include "support/utf8.hpp"

namespace assay::cli {
namespace {

/// What to import, and the kernels that were asked for by name.
struct Wanted {
  live::ImportRequest request;
  std::map<std::string, std::vector<std::string>> kernels;  ///< by file or module; empty: all
};

void want(Wanted& wanted, std::vector<std::string>& places, const std::string& place, const std::string& kernel) {
  const bool is_new = std::ranges::find(places, place) == places.end();
  if (is_new) places.push_back(place);
  std::vector<std::string>& names = wanted.kernels[place];
  if (kernel.empty() || (!is_new && names.empty())) names.clear();
  else names.push_back(kernel);
}

Result<Wanted> wanted_of(const std::vector<std::string>& selectors, const PythonImportOptions& options) {
  Wanted wanted;
  std::vector<std::string> modules = options.module_names;
  for (const std::string& selector : selectors) {
    const auto file = harness::file_selector(selector);
    if (file && file->path.ends_with(".py")) want(wanted, wanted.request.files, file->path, file->kernel);
    else modules.push_back(selector);
  }
  for (const std::string& module : modules) {
    const std::size_t colon = std::min(module.find(':'), module.size());
    const std::string name = module.substr(0, colon);
    if (name.empty() || name.find('/') != std::string::npos)
      return Error{"--import expects a Python file or the name of a module", module};
    want(wanted, wanted.request.module_names, name, module.substr(std::min(colon + 1, module.size())));
  }
  for (const std::vector<std::string>& places : {wanted.request.files, wanted.request.module_names}) {
    const auto invalid = std::ranges::find_if_not(places, [](const std::string& place) { return is_utf8(place); });
    if (invalid != places.end()) return Error{"--import requires names in UTF-8; rename the file", *invalid};
  }
  wanted.request.python_interpreter = options.python_interpreter;
  wanted.request.time_limit = std::chrono::seconds(static_cast<long>(std::ceil(options.time_limit_seconds)));
  wanted.request.memory_limit_bytes = static_cast<std::uint64_t>(options.memory_limit_gib * 1024) << 20;
  return wanted;
}

/// Removes the kernels that were not asked for. Fails if one that was is missing.
Result<void> keep_wanted(std::vector<live::ImportedKernel>& kernels, const Wanted& wanted) {
  for (const auto& [place, names] : wanted.kernels) {
    if (names.empty()) continue;
    std::vector<std::string> known;
    for (const live::ImportedKernel& kernel : kernels) {
      if (kernel.selector.starts_with(place + ":")) known.push_back(kernel.selector.substr(place.size() + 1));
    }
    for (const std::string& name : names) {
      if (std::ranges::find(known, name) != known.end()) continue;
      return Error{fmt::format("unknown kernel '{}'; the imported modules define {}{}", name, fmt::join(known, ", "),
                               harness::did_you_mean(name, known)),
                   place};
    }
    std::erase_if(kernels, [&](const live::ImportedKernel& kernel) {
      return kernel.selector.starts_with(place + ":") &&
             std::ranges::find(names, kernel.selector.substr(place.size() + 1)) == names.end();
    });
  }
  return {};
}

void print_notes(const live::ImportedKernels& imported) {
  for (const std::string& note : imported.notes)
    print_message("import: " + note);
  if (!imported.confinement.complete())
    print_message("import: the process is not fully confined: " + worker::describe(imported.confinement));
  if (imported.total_output_bytes > 0)
    print_message(fmt::format(
        "import: the imported code printed {} bytes; --keep-export DIR stores the end of its output in DIR/{}",
        imported.total_output_bytes, live::kImportLogFileName));
}

}  // namespace

void add_import_options(CLI::App& command, PythonImportOptions& options) {
  CLI::Option* const enabled = command.add_flag(
      "--import", options.is_import_requested,
      "Import the Python files in a confined process and judge the kernels that exist after the import");
  command
      .add_option("--module", options.module_names,
                  "With --import: import this module as well, such as pkg.sub, 'pkg.*' or pkg:KERNEL")
      ->option_text("MODULE")
      ->needs(enabled);
  command
      .add_option("--python", options.python_interpreter, "With --import: Python interpreter that imports the files")
      ->option_text("PROGRAM [$ASSAY_PYTHON or python3]")
      ->needs(enabled);
  command.add_option("--keep-export", options.export_folder, "With --import: write the exported kernels to a folder")
      ->option_text("DIR")
      ->needs(enabled);
  command.add_option("--import-seconds", options.time_limit_seconds, "With --import: time limit of the import")
      ->option_text("S [120]")
      ->check(CLI::Range(0.1, 86'400.0))
      ->needs(enabled);
  command.add_option("--import-memory", options.memory_limit_gib, "With --import: memory limit of the import, in GiB")
      ->option_text("GIB [8]")
      ->check(CLI::Range(0.25, 4096.0))
      ->needs(enabled);
}

Result<live::ImportedKernels> import_kernels(const std::vector<std::string>& selectors,
                                             const PythonImportOptions& options, bool for_dataset) {
  Result<Wanted> wanted = wanted_of(selectors, options);
  if (!wanted.ok()) return wanted.error();
  wanted->request.is_for_dataset = for_dataset;
  Result<live::ImportedKernels> imported = live::import_kernels(wanted->request);
  if (!imported.ok()) return imported.error();
  print_notes(*imported);
  if (imported->kernels.empty()) {
    std::vector<std::string> places;
    for (const auto& [place, names] : wanted->kernels)
      places.push_back(place);
    return Error{"no kernel exists after the import", fmt::format("{}", fmt::join(places, ", "))};
  }
  if (const Result<void> kept = keep_wanted(imported->kernels, *wanted); !kept.ok()) return kept.error();
  if (!options.export_folder.empty()) {
    if (const Result<void> written = live::write_exports(*imported, options.export_folder); !written.ok())
      return written.error();
  }
  if (const auto changed = live::changed_source(imported->sources))
    return Error{"the file changed during the import; run again", *changed};
  return imported;
}

Result<PythonImportResult> import_python_sources(const std::vector<std::string>& selectors,
                                                 const PythonImportOptions& options) {
  Result<live::ImportedKernels> imported = import_kernels(selectors, options, false);
  if (!imported.ok()) return imported.error();
  PythonImportResult result{.kernels = {}, .sources = std::move(imported->sources)};
  for (live::ImportedKernel& kernel : imported->kernels) {
    result.kernels.push_back({.kernel = std::move(kernel.name),
                              .selector = std::move(kernel.selector),
                              .file = std::move(kernel.file),
                              .line = kernel.line,
                              .source_text = std::move(kernel.source_text),
                              .export_error = std::move(kernel.export_error)});
  }
  return result;
}

}  // namespace assay::cli
