#include "reports/state.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/registry.hpp"
#include "reports/report_files.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

json cell_json(const LatestRunResult& cell) {
  return {{"family", cell.family},   {"pass", cell.pass},       {"device", cell.device},
          {"date", cell.run_date},   {"toolkit", cell.toolkit}, {"run_id", cell.run_id},
          {"total", cell.supported}, {"passed", cell.passed},   {"inconclusive", cell.inconclusive}};
}

LatestRunResult cell_from(const json& value) {
  return {.family = value.at("family"),
          .pass = value.at("pass"),
          .device = value.at("device"),
          .run_date = value.at("date"),
          .toolkit = value.at("toolkit"),
          .run_id = value.at("run_id"),
          .supported = value.at("total"),
          .passed = value.at("passed"),
          .inconclusive = value.at("inconclusive")};
}

auto position(const LatestRunResult& cell) { return std::tuple(cell.family, cell.pass != "forward", cell.device); }

std::string date_of(const Run& run) { return run.start.at("started").get<std::string>().substr(0, 10); }

json environment_of(const Run& run, const std::string& device) {
  for (const json& row : run.start.at("environment").at("devices")) {
    if (row.at("name") == device) return row;
  }
  return {{"toolkit", ""}, {"description", ""}};
}

bool is_gpu(const std::string& device) {
  const backends::DeviceDescriptor* const row = backends::find_device(device);
  return row != nullptr && row->is_gpu;
}

// The toolkit, with the name of the GPU if there is one: "NVRTC 13.0 on NVIDIA H200, sm_90".
std::string toolkit_of(const Run& run, const std::string& device) {
  const json row = environment_of(run, device);
  const std::string description = row.at("description");
  if (!is_gpu(device) || description.empty()) return row.at("toolkit");
  return fmt::format("{} on {}", row.at("toolkit").get<std::string>(), description);
}

// Whether a GPU of the run was the fake used by tests.
bool is_fake(const Run& run) {
  return std::ranges::any_of(backends::devices(), [&](const backends::DeviceDescriptor& row) {
    const json environment = environment_of(run, std::string(row.name));
    return row.is_gpu && environment.at("description").get<std::string>().starts_with("fake GPU");
  });
}

void put_cell(ProjectState& state, LatestRunResult cell) {
  const auto old = std::find_if(state.latest_results.begin(), state.latest_results.end(),
                                [&](const LatestRunResult& other) { return position(other) == position(cell); });
  if (old == state.latest_results.end()) {
    state.latest_results.push_back(std::move(cell));
  } else if (old->run_id < cell.run_id) {
    *old = std::move(cell);
  }
}

void put_log(ProjectState& state, StateLogEntry entry) {
  const bool known = std::any_of(state.run_log.begin(), state.run_log.end(), [&](const StateLogEntry& other) {
    return other.run_id == entry.run_id && other.device == entry.device;
  });
  if (!known) state.run_log.push_back(std::move(entry));
}

// Escapes text from records for a Markdown table.
std::string cell_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += "\\|";
    else if (c == '<') safe += "&lt;";
    else if (c == '\n' || c == '\r') safe += ' ';
    else safe += c;
  }
  return safe;
}

// The text for a combination: counts, date and toolkit, or that it never ran.
std::string proof_text(const ProjectState& state, const std::string& family, const std::string& pass,
                       const std::string& device) {
  const auto cell =
      std::find_if(state.latest_results.begin(), state.latest_results.end(), [&](const LatestRunResult& other) {
        return other.family == family && other.pass == pass && other.device == device;
      });
  if (cell == state.latest_results.end()) return is_gpu(device) ? "never ran on a GPU" : "never ran";
  std::string counts = fmt::format("{} of {} pass", cell->passed, cell->supported);
  if (cell->inconclusive > 0) counts += fmt::format(", {} inconclusive", cell->inconclusive);
  return fmt::format("{}; {}, {}", counts, cell->run_date,
                     cell->toolkit.empty() ? "toolkit unknown" : cell_text(cell->toolkit));
}

std::string blockers_text(const ProjectState& state) {
  if (state.blockers.empty()) return " none\n";
  std::string text = "\n\n";
  for (const std::string& blocker : state.blockers)
    text += fmt::format("- {}\n", blocker);
  return text;
}

std::string table_text(const ProjectState& state) {
  const std::vector<std::string> devices = backends::emitted_code_devices();
  std::string text = fmt::format("| family | pass | {} |\n|---|---|", fmt::join(devices, " | "));
  for (std::size_t i = 0; i < devices.size(); ++i)
    text += "---|";
  text += '\n';
  std::string last;
  for (const LatestRunResult& cell : state.latest_results) {  // sorted, so that a family's cells stand together
    if (cell.family == last) continue;
    last = cell.family;
    for (const char* pass : {"forward", "backward"}) {
      text += fmt::format("| {} | {} |", cell_text(last), pass);
      for (const std::string& device : devices)
        text += fmt::format(" {} |", proof_text(state, last, pass, device));
      text += '\n';
    }
  }
  return last.empty() ? "No kernel family has run on any device.\n" : text;
}

// One sentence about the GPU.
std::string gpu_text(const ProjectState& state) {
  const LatestRunResult* latest = nullptr;
  for (const LatestRunResult& cell : state.latest_results) {
    if (is_gpu(cell.device) && (latest == nullptr || latest->run_id < cell.run_id)) latest = &cell;
  }
  if (latest == nullptr) return "No kernel has run on a GPU yet.";
  return fmt::format("Kernels last ran on a GPU on {}, with {}.", latest->run_date, cell_text(latest->toolkit));
}

}  // namespace

Result<ProjectState> read_state(const std::filesystem::path& file) {
  const Result<std::string> text = read_file_text(file);
  if (!text.ok()) return text.error();
  const json document = json::parse(*text, nullptr, false);
  if (document.is_discarded()) return Error{"file is not valid JSON", file.string()};
  if (const auto diagnostics = schemas::Validator(schemas::kStateSchemaText).diagnostics(document);
      !diagnostics.empty()) {
    return Error{diagnostics.front().text(), file.string()};
  }
  ProjectState state{.phase = document.at("phase"),
                     .next_action = document.at("next_action"),
                     .blockers = document.at("blockers").get<std::vector<std::string>>()};
  for (const json& cell : document.at("cells"))
    state.latest_results.push_back(cell_from(cell));
  for (const json& entry : document.at("log")) {
    state.run_log.push_back({.run_date = entry.at("date"),
                             .run_id = entry.at("run_id"),
                             .device = entry.at("device"),
                             .result_summary = entry.at("text")});
  }
  return state;
}

Result<void> write_state(const std::filesystem::path& file, const ProjectState& state) {
  json cells = json::array();
  for (const LatestRunResult& cell : state.latest_results)
    cells.push_back(cell_json(cell));
  json log = json::array();
  for (const StateLogEntry& entry : state.run_log) {
    log.push_back(
        {{"date", entry.run_date}, {"run_id", entry.run_id}, {"device", entry.device}, {"text", entry.result_summary}});
  }
  const json document = {{"schema_version", schemas::kStateSchemaVersion},
                         {"phase", state.phase},
                         {"next_action", state.next_action},
                         {"blockers", state.blockers},
                         {"cells", cells},
                         {"log", log}};
  return put_file(file, document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<void> update_state(ProjectState& state, const Run& run, const RunSummary& summary) {
  const std::string run_id = run.start.at("run_id");
  if (!run.complete()) return Error{"the run did not finish; only complete runs can be recorded", run_id};

  if (is_fake(run)) {
    return Error{"the run used a fake GPU; only runs on a real GPU, or without a GPU, can be recorded", run_id};
  }

  std::map<std::string, CaseCounts> devices;
  for (const GridCell& cell : summary.grid) {
    const CaseCounts& tally = cell.counts;
    const std::int64_t total = tally.total() - tally.unsupported - tally.not_run;
    if (total == 0) continue;
    devices[cell.device].add(tally);
    put_cell(state, {.family = cell.family,
                     .pass = cell.pass,
                     .device = cell.device,
                     .run_date = date_of(run),
                     .toolkit = toolkit_of(run, cell.device),
                     .run_id = run_id,
                     .supported = total,
                     .passed = tally.passed,
                     .inconclusive = tally.inconclusive});
  }
  if (devices.empty()) return Error{"no supported case ran; only runs with at least one can be recorded", run_id};
  for (const auto& [device, tally] : devices) {
    const json& environment = run.start.at("environment");
    put_log(state, {.run_date = date_of(run),
                    .run_id = run_id,
                    .device = device,
                    .result_summary = fmt::format("{} of {} pass with {}, commit {}{}", tally.passed,
                                                  tally.total() - tally.unsupported - tally.not_run,
                                                  toolkit_of(run, device), environment.at("commit").get<std::string>(),
                                                  environment.at("dirty").get<bool>() ? " with local changes" : "")});
  }
  std::sort(state.latest_results.begin(), state.latest_results.end(),
            [](const LatestRunResult& left, const LatestRunResult& right) { return position(left) < position(right); });
  std::stable_sort(state.run_log.begin(), state.run_log.end(),
                   [](const StateLogEntry& left, const StateLogEntry& right) { return left.run_id < right.run_id; });
  if (state.run_log.size() > kMaxStateLogEntries) {
    state.run_log.erase(state.run_log.begin(), state.run_log.end() - static_cast<std::ptrdiff_t>(kMaxStateLogEntries));
  }
  return {};
}

std::string state_page(const ProjectState& state) {
  std::string log;
  for (auto entry = state.run_log.rbegin(); entry != state.run_log.rend(); ++entry) {
    log += fmt::format("- {} {}: {}\n", entry->run_date, entry->device, cell_text(entry->result_summary));
  }
  return fmt::format(
      "# CUDA state\n\n"
      "`assay state` writes this page from `conformance/state.json`; a test fails if the page is stale. Edit the "
      "phase, the\nnext action and the blockers in that file. `assay state --update DIR` adds the results of a run.\n\n"
      "**Phase:** {}\n\n**Next action:** {}\n\n**Blockers:**{}\n"
      "{}\n\n"
      "## Latest run on each device\n\n{}\n"
      "## Log\n\n{}",
      state.phase, state.next_action, blockers_text(state), gpu_text(state), table_text(state),
      log.empty() ? "No run has been recorded.\n" : log);
}

Result<void> write_state_page(const std::filesystem::path& file, const ProjectState& state) {
  return put_file(file, state_page(state));
}

}  // namespace assay::reports
