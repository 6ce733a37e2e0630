// assay doctor: what this machine can run, and what is missing.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/device/tools.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "harness/suite/suite_run.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;

struct DoctorOptions {
  std::string device = "cpu";
  std::string compiler;
  bool as_json = false;
};

std::string row(std::string_view name, bool good, std::string_view detail) {
  return fmt::format("{:<14} {:<4} {}\n", name, good ? "yes" : "no", detail);
}

/// A line that continues the row above.
std::string row_below(std::string_view detail) { return fmt::format("{:<14} {:<4} {}\n", "", "", detail); }

std::string as_text(const harness::RunEnvironment& environment, const std::vector<backends::Tool>& tools) {
  std::string text = fmt::format("{}\n{}\n{}\n\n", version_text(), environment.os_name, environment.cpu_model);
  for (const harness::DeviceStatus& device : environment.devices) {
    const std::string toolkit = device.toolkit.empty() ? "" : ", builds with " + device.toolkit;
    text += row("device " + device.name, device.is_available,
                device.is_available ? device.description + toolkit : device.reason + toolkit);
    if (!device.confinement.empty()) text += row_below("generated code: " + device.confinement);
  }
  for (const backends::Tool& tool : tools)
    text += row(tool.name, tool.is_available, tool.version_or_reason);
  return text;
}

json as_json(const harness::RunEnvironment& environment, const std::vector<backends::Tool>& tools) {
  json result{{"version", kVersion},
              {"commit", kCommitHash},
              {"dirty", kHasUncommittedChanges},
              {"os", environment.os_name},
              {"cpu", environment.cpu_model}};
  for (const harness::DeviceStatus& device : environment.devices) {
    result["devices"].push_back({{"name", device.name},
                                 {"available", device.is_available},
                                 {"reason", device.reason},
                                 {"description", device.description},
                                 {"toolkit", device.toolkit},
                                 {"confinement", device.confinement}});
  }
  for (const backends::Tool& tool : tools)
    result["tools"].push_back(
        {{"name", tool.name}, {"available", tool.is_available}, {"detail", tool.version_or_reason}});
  return result;
}

int doctor(const DoctorOptions& options) {
  const Result<harness::RunEnvironment> environment = harness::find_environment({.compiler = options.compiler});
  if (!environment.ok()) return fail(environment.error());
  const std::vector<backends::Tool> tools = backends::find_tools();
  const int printed =
      print_or_fail(options.as_json ? as_json(*environment, tools).dump(1) + "\n" : as_text(*environment, tools));
  if (printed != 0) return printed;
  const auto asked = std::ranges::find(environment->devices, options.device, &harness::DeviceStatus::name);
  return to_int(asked->is_available ? ExitStatus::as_expected : ExitStatus::all_unsupported);
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App& command = *app.add_subcommand("doctor", "Show what this machine can run and what is missing");
  add_any_device_option(command, options->device,
                        "Device that determines the exit status: 0 if it can run, otherwise 77");
  add_compiler_option(command, options->compiler);
  command.add_flag("--json", options->as_json, "Print JSON");
  command.callback([options, &invocation] { invocation.status = doctor(*options); });
}

}  // namespace assay::cli
