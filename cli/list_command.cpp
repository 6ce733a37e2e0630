// assay list: the families, and the cases that a selector names.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/device/registry.hpp"
#include "cli/commands.hpp"
#include "cli/import_options.hpp"
#include "cli/options.hpp"
#include "conformance/cases.hpp"
#include "generators/generator.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/plan.hpp"
#include "harness/suite/select/select.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;

struct ListOptions {
  std::vector<std::string> selectors;
  PythonImportOptions import;
  std::string device = "cpu";
  int random_kernels_per_family = 8;
  std::uint64_t seed = 1;
  bool as_json = false;
};

std::string families_table() {
  std::string text = fmt::format("{:<18} {:>7}  {}\n", "family", "curated", "covers");
  for (const generators::KernelFamilyDefinition& row : generators::families()) {
    text += fmt::format("{:<18} {:>7}  {}{}\n", row.name, conformance::cases_of(row.name).size(), row.description,
                        row.alias.empty() ? "" : fmt::format(" (also: {})", row.alias));
  }
  return text +
         "\nEvery family also has random kernels: <family>/r2_<seed>.\n"
         "`assay list SELECTOR` lists cases; `assay run SELECTOR` judges them.\n";
}

json families_json() {
  json families = json::array();
  for (const generators::KernelFamilyDefinition& row : generators::families()) {
    families.push_back({{"family", row.name},
                        {"alias", row.alias},
                        {"covers", row.description},
                        {"curated", conformance::cases_of(row.name).size()}});
  }
  return families;
}

/// The selected kernel's cases, as a run would name them.
std::vector<std::string> cases_of(const harness::SelectedKernel& kernel, const std::vector<harness::Mode>& modes,
                                  const backends::Device& device) {
  std::vector<std::string> cases;
  for (const harness::Mode& mode : modes) {
    if (!harness::judged_mode(mode, kernel, modes, harness::KernelSampleSize::kFraction)) continue;
    const harness::RunOptions options{.forward = kernel.forward, .backward = kernel.backward, .mode = mode};
    std::ranges::copy(harness::plan_cases({kernel.source}, device, options), std::back_inserter(cases));
  }
  return cases;
}

json case_json(const harness::KernelSource& source, const std::string& name) {
  const harness::CaseRecord parts = harness::record_of(name);
  json listed = {{"case", name},
                 {"family", parts.family},
                 {"kernel", parts.kernel},
                 {"types", parts.parameter_types},
                 {"device", parts.device},
                 {"pass", parts.pass},
                 {"selector", source.selector},
                 {"file", source.file}};
  if (source.parse_error) listed["unreadable"] = source.parse_error->text();
  return listed;
}

Result<harness::Selection> select(const ListOptions& options, const std::vector<std::string>& modes) {
  if (!options.import.is_import_requested) {
    return harness::select(options.selectors, {.device = options.device,
                                               .modes = modes,
                                               .random_kernels_per_family = options.random_kernels_per_family,
                                               .first_random_seed = options.seed});
  }
  const Result<PythonImportResult> import = import_python_sources(options.selectors, options.import);
  if (!import.ok()) return import.error();
  return harness::select_exported(import->kernels, modes);
}

int list(const ListOptions& options) {
  if (options.selectors.empty() && options.import.module_names.empty()) {
    return print_or_fail(options.as_json ? families_json().dump(1) + "\n" : families_table());
  }
  const std::vector<harness::Mode> modes = harness::modes_of(options.device, "", 0);
  const Result<harness::Selection> selection = select(options, harness::names_of(modes));
  if (!selection.ok()) return fail(selection.error());
  const auto device = backends::make_device(options.device);
  if (!device.ok()) return fail(device.error());
  std::string lines;
  json cases = json::array();
  for (const harness::SelectedKernel& kernel : selection->kernels) {
    for (const std::string& name : cases_of(kernel, modes, **device)) {
      lines += name + "\n";
      if (options.as_json) cases.push_back(case_json(kernel.source, name));
    }
  }
  return print_or_fail(options.as_json ? cases.dump(1, ' ', false, json::error_handler_t::replace) + "\n" : lines);
}

}  // namespace

void add_list(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& command = *app.add_subcommand("list", "List the kernel families, or the cases that match a selector");
  command
      .add_option("SELECTOR", options->selectors,
                  "A family, a pattern over <family>/<kernel>/<types>/<device>/<pass>, or FILE.py[:KERNEL]")
      ->option_text(" ");
  add_import_options(command, options->import);
  add_any_device_option(command, options->device, "Device in the names of the listed cases; no case is run");
  add_random_option(command, options->random_kernels_per_family);
  add_seed_option(command, options->seed, "Seed of the first random kernel");
  command.add_flag("--json", options->as_json, "Print JSON");
  command.callback([options, &invocation] { invocation.status = list(*options); });
}

}  // namespace assay::cli
