// assay calibrate: measures the accuracy of a device's math functions, next to the bounds that verdicts use.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backends/device/registry.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "harness/calibrate/calibrate.hpp"
#include "harness/calibrate/unit_tables.hpp"
#include "harness/records/record_writer.hpp"
#include "harness/suite/emission.hpp"
#include "reports/model/text_table.hpp"
#include "support/files.hpp"

namespace assay::cli {
namespace {

using harness::OperationCalibration;
using nlohmann::json;

constexpr const char* kFile = "calibration.json";

struct CalibrateOptions {
  std::vector<std::string> functions;
  std::string device{std::ranges::find_if(backends::devices(), &backends::DeviceDescriptor::is_gpu)->name};
  backends::DeviceOptions device_options;
  std::uint64_t step = 1;
  std::string output = "out";
  std::string tables;  ///< the file for tables, which are measured in place of functions; empty: functions
  std::vector<std::string> units;
  ColorChoice color = ColorChoice::automatic;
};

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const ir::Op op : harness::calibrated_operations())
    names.emplace_back(ir::row(op).mnemonic);
  return names;
}

/// The named functions; all where none is named.
std::vector<ir::Op> chosen(const std::vector<std::string>& names) {
  std::vector<ir::Op> operations = harness::calibrated_operations();
  if (names.empty()) return operations;
  std::erase_if(operations, [&](ir::Op op) { return std::ranges::find(names, ir::row(op).mnemonic) == names.end(); });
  return operations;
}

/// "2 of the rounded", "0.7 in all", "exact".
std::string figure_text(const ir::UlpBound& figure) {
  switch (figure.kind) {
    case ir::UlpBound::Kind::kExact: return "exact";
    case ir::UlpBound::Kind::kUlpsFromExactResult: return fmt::format("{}", figure.ulps);
    case ir::UlpBound::Kind::kUlpsFromRoundedResult: return fmt::format("{}", figure.ulps + 0.5);
    case ir::UlpBound::Kind::kDerived: break;
  }
  return "by steps";
}

std::string table_of(const std::vector<OperationCalibration>& results, backends::SourceTarget target, bool color) {
  reports::TextTable table;
  table.add_header({"function", "inputs", "largest error", "at input", "allowed", "exceeded"});
  for (const OperationCalibration& result : results) {
    table.add({std::string(ir::row(result.op).mnemonic), fmt::format("{}", result.compared_count),
               fmt::format("{:.3f} ulp", result.worst_point.ulps), fmt::format("{}", result.worst_point.input),
               figure_text(harness::ulp_bound_of(result.op, target)), fmt::format("{}", result.violation_count)});
  }
  return table.text(color);
}

json to_json(const harness::CalibrationPoint& point) {
  // Text, since JSON has no infinities and no NaN.
  return {{"input", fmt::format("{}", point.input)},
          {"got", fmt::format("{}", point.device_result)},
          {"expected", fmt::format("{}", point.oracle_value)},
          {"ulps", point.ulps}};
}

json to_json(const OperationCalibration& result, backends::SourceTarget target) {
  json document{{"function", ir::row(result.op).mnemonic},
                {"compared", result.compared_count},
                {"beyond", result.violation_count},
                {"allowed_ulps", figure_text(harness::ulp_bound_of(result.op, target))},
                {"worst", to_json(result.worst_point)}};
  if (result.first_violation) document["refuted"] = to_json(*result.first_violation);
  return document;
}

Result<void> write(const std::vector<OperationCalibration>& results, const backends::Device& device,
                   const CalibrateOptions& options) {
  json document{{"date", harness::utc_now()},
                {"device", device.name()},
                {"description", device.can_run().tool_or_reason},
                {"toolkit", device.can_build().tool_or_reason},
                {"step", options.step},
                {"functions", json::array()}};
  for (const OperationCalibration& result : results)
    document["functions"].push_back(to_json(result, device.target()));
  return put_file(std::filesystem::path(options.output) / kFile, document.dump(1) + "\n");
}

int calibrate_tables(backends::Device& device, const CalibrateOptions& options) {
  const auto measured = harness::measure_tables(device, options.units, options.step, [](std::string_view instruction) {
    print_message(fmt::format("measuring {}", instruction));
  });
  if (!measured.ok()) return fail(measured.error(), ExitStatus::internal);
  const auto written = put_file(options.tables, ptx::encode_tables(measured->tables));
  if (!written.ok()) return fail(written.error(), ExitStatus::internal);
  const int printed =
      print_or_fail(fmt::format("{}\n{} tables of {} in {}\n", fmt::join(measured->summary_lines, "\n"),
                                measured->tables.tables.size(), measured->tables.device, options.tables));
  if (printed != 0) return printed;
  return to_int(measured->is_complete ? ExitStatus::as_expected : ExitStatus::unexpected);
}

int calibrate_operations(const CalibrateOptions& options) {
  const auto made = backends::make_device(options.device, options.device_options);
  if (!made.ok()) return fail(made.error());
  const std::unique_ptr<backends::Device>& device = *made;
  if (const backends::Capability can = device->can_run(); !can.is_available) {
    print_message(fmt::format("cannot calibrate {}: {}", options.device, can.tool_or_reason));
    return to_int(ExitStatus::all_unsupported);
  }
  if (!options.tables.empty()) return calibrate_tables(*device, options);
  const auto results = harness::calibrate_operations(
      *device, harness::printer(),
      {.operations = chosen(options.functions),
       .bit_pattern_step = options.step,
       .jobs = std::max(1U, std::thread::hardware_concurrency())},
      [](const OperationCalibration& result) {
        print_message(fmt::format("{}: {:.3f} ulp", ir::row(result.op).mnemonic, result.worst_point.ulps));
      });
  if (!results.ok()) return fail(results.error(), ExitStatus::internal);
  const Result<void> written = write(*results, *device, options);
  if (!written.ok()) return fail(written.error(), ExitStatus::internal);
  const bool color = use_color_on_stdout(options.color);
  const auto beyond =
      std::ranges::count_if(*results, [](const OperationCalibration& result) { return result.violation_count > 0; });
  const std::string verdict = beyond == 0
                                  ? fmt::format("All {} functions are within the allowed error", results->size())
                                  : fmt::format("{} of {} functions exceed the allowed error", beyond, results->size());
  const Result<void> printed = print(fmt::format("{}\n{}, on {}\n", table_of(*results, device->target(), color),
                                                 verdict, device->can_run().tool_or_reason));
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  return to_int(beyond == 0 ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace

void add_calibrate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CalibrateOptions>();
  CLI::App& command = *app.add_subcommand("calibrate", "Measure a device's math functions over all float32 inputs");
  command.add_option("FUNCTION", options->functions, "Functions to measure; default: all")
      ->option_text(" ")
      ->check(CLI::IsMember(function_names()));
  add_device_option(command, options->device, "Device whose functions are measured");
  add_gpu_options(command, options->device_options.gpu_number_or_all,
                  options->device_options.device_memory_limit_bytes);
  command
      .add_option("--every", options->step, "Measure every N-th of the 2^32 inputs; all inputs take hours on few cores")
      ->option_text("N [1]")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31U));
  command.add_option("--output", options->output, "Output folder for calibration.json")->option_text("DIR [out]");
  auto* const tables = command
                           .add_option("--tables", options->tables,
                                       "Measure approximate instructions instead of functions;\n"
                                       "write the tables for --ptx-tables to this file")
                           ->option_text("FILE");
  command
      .add_option("--unit", options->units,
                  "With --tables: measure only these instructions, such as rcp.approx.ftz.f32")
      ->option_text("NAME ...")
      ->allow_extra_args(false)
      ->needs(tables)
      ->check(CLI::IsMember(harness::unit_names()));
  add_color_option(command, options->color);
  command.footer(
      "Compares each result with the value and error bound that the oracle computes, as 'assay run' does. Errors are\n"
      "differences from the exact result, in ulp. The allowed error is the documented maximum. For CUDA, half an ulp "
      "is\n"
      "added, because the documented errors of CUDA are differences from the correctly rounded result.\n"
      "Exit status: 0 all errors are allowed, 1 an error exceeds its allowed maximum, 77 the device is missing.");
  command.callback([options, &invocation] { invocation.status = calibrate_operations(*options); });
}

}  // namespace assay::cli
