#include "harness/warp_differences/exchange.hpp"

#include <fstream>
#include <map>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/process.hpp"
#include "backends/device/scratch_directory.hpp"
#include "ir/analysis.hpp"

namespace assay::warp {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Bytes = std::vector<std::byte>;

std::string case_name(std::size_t number) { return fmt::format("{:04}", number); }

Result<void> write_file(const fs::path& path, std::span<const std::byte> content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) return Error{"cannot be written", path.string()};
  return {};
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

Bytes read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The cotangents of an array, in the layout of the array.
Bytes seed_bytes(const ir::Module& module, const ir::Argument& argument, const std::vector<double>& seeds) {
  Bytes bytes(argument.bytes.size());
  const auto components = ir::scalar_components(module, argument.type.element());
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const ir::ScalarComponent& component = components[i % components.size()];
    const std::size_t element = ir::element_offset(argument, static_cast<std::int64_t>(i / components.size()));
    if (ir::is_float(component.scalar))
      ir::write_float(component.scalar, bytes.data() + element + component.offset, seeds[i]);
  }
  return bytes;
}

/// Whether Warp must launch the kernel with blocks: the source has tiles, which the kernel may have as local arrays.
bool has_tiles(const ComparedKernel& subject) {
  return ir::uses_tiles(subject.kernel()) || subject.python().find("wp.tile_") != std::string::npos;
}

/// The number of threads in a block of a kernel with tiles. Warp transforms only tiles whose rows are multiples of it.
/// Kernels whose threads have different values have blocks of one thread.
int block_size(const ComparedKernel& subject) {
  const std::string_view text = subject.python();
  const auto names = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (names("fft(")) return 4;
  const bool has_thread_values = std::ranges::any_of(
      std::initializer_list<std::string_view>{"wp.tile(", "wp.untile(", "wp.tile_scatter_", "wp.tile_stack",
                                              "wp.tile_query_valid(", "_tiled(", "wp.block_dim("},
      names);
  return has_thread_values ? 1 : 64;
}

/// The entry of the plan for one launch; appends the memory of the launch to `data`.
json plan_launch(const ComparedKernel& subject, std::size_t number, Bytes& data) {
  const harness::InputSet& set = subject.sets()[number];
  const ir::Launch& launch = set.launch_by_precision[reference::kNative];
  const bool gradient = subject.has_gradient(number);
  json parameters = json::array();
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    const ir::Argument& argument = launch.arguments[p];
    const bool is_array = argument.type.is_array();
    const bool seeded = gradient && is_array && subject.oracle().writes(static_cast<ir::VarId>(p));
    const std::string& path = subject.kernel().variables[p].path;
    parameters.push_back({{"path", path.empty() ? json() : json(path)},
                          {"shape", is_array ? json(argument.shape) : json()},
                          {"bytes", argument.bytes.size()},
                          {"differentiable", is_array && ir::is_differentiable(subject.module(), argument.type)},
                          {"seeded", seeded}});
    data.insert(data.end(), argument.bytes.begin(), argument.bytes.end());
    if (!seeded) continue;
    const Bytes seeds = seed_bytes(subject.module(), argument, set.cotangents[p]);
    data.insert(data.end(), seeds.begin(), seeds.end());
  }
  return {{"extents", launch.extents},
          {"tiled", has_tiles(subject)},
          {"block_dim", block_size(subject)},
          {"gradient", gradient},
          {"parameters", std::move(parameters)}};
}

Result<void> write_plan(const fs::path& folder, const std::vector<ComparedKernel>& subjects) {
  json cases = json::array();
  std::map<std::string_view, std::string> files;  // by text: kernels of one file are compiled together
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const ComparedKernel& subject = subjects[s];
    const std::string name = case_name(s);
    const auto [file, is_new] = files.try_emplace(subject.python(), name + ".py");
    if (is_new) {
      if (auto written = write_file(folder / file->second, subject.python()); !written.ok()) return written;
    }
    json launches = json::array();
    for (std::size_t l = 0; l < subject.sets().size(); ++l) {
      Bytes data;
      json launch = plan_launch(subject, l, data);
      launch["data"] = fmt::format("{}_{}.bin", name, l);
      if (auto written = write_file(folder / launch["data"].get<std::string>(), data); !written.ok()) return written;
      launches.push_back(std::move(launch));
    }
    cases.push_back({{"name", name},
                     {"source", file->second},
                     {"kernel", subject.kernel().name},
                     {"launches", std::move(launches)}});
  }
  return write_file(folder / "plan.json", json{{"cases", std::move(cases)}}.dump());
}

WarpPassStatus status_of(const std::string& text) {
  for (const WarpPassStatus status :
       {WarpPassStatus::kDone, WarpPassStatus::kRejected, WarpPassStatus::kCrashed, WarpPassStatus::kTimedOut}) {
    if (text == to_text(status)) return status;
  }
  return WarpPassStatus::kNoAnswer;
}

/// Splits the bytes of an answer into the arrays of the launch.
void take_arrays(WarpPassResult& answer, const ir::Launch& launch, const Bytes& bytes) {
  std::size_t position = 0;
  for (const ir::Argument& argument : launch.arguments) {
    const std::size_t size = argument.type.is_array() ? argument.bytes.size() : 0;
    if (position + size > bytes.size()) {
      answer = {WarpPassStatus::kNoAnswer, "the result file of the Warp process is truncated"};
      return;
    }
    const auto* first = bytes.data() + position;
    answer.array_contents.emplace_back(first, first + size);
    position += size;
  }
}

std::vector<WarpLaunchResult> read_answers(const fs::path& folder, const ComparedKernel& subject,
                                           const std::string& name) {
  std::vector<WarpLaunchResult> answers(subject.sets().size());
  WarpPassResult whole;  // answer for the whole case
  std::ifstream stream(folder / (name + ".jsonl"));
  for (std::string line; std::getline(stream, line);) {
    const json entry = json::parse(line, nullptr, false);
    if (entry.is_discarded()) continue;  // the process died while writing
    const WarpPassResult said{status_of(entry["status"]), entry["message"]};
    if (entry["launch"].is_null()) {
      whole = said;
      continue;
    }
    const auto number = entry["launch"].get<std::size_t>();
    const std::string pass = entry["pass"];
    WarpPassResult& answer = pass == "forward" ? answers.at(number).forward : answers.at(number).backward;
    answer = said;
    if (answer.status != WarpPassStatus::kDone) continue;
    take_arrays(answer, subject.sets()[number].launch_by_precision[reference::kNative],
                read_file(folder / fmt::format("{}_{}_{}.bin", name, number, pass)));
  }
  for (WarpLaunchResult& answer : answers) {
    if (answer.forward.status == WarpPassStatus::kNoAnswer) answer.forward = whole;
    if (answer.backward.status == WarpPassStatus::kNoAnswer) answer.backward = whole;
  }
  return answers;
}

std::string tail(const std::string& text) {
  constexpr std::size_t kKept = 2000;
  return text.size() > kKept ? text.substr(text.size() - kKept) : text;
}

}  // namespace

std::string_view to_text(WarpPassStatus status) {
  switch (status) {
    case WarpPassStatus::kDone: return "done";
    case WarpPassStatus::kRejected: return "refused";
    case WarpPassStatus::kCrashed: return "crashed";
    case WarpPassStatus::kTimedOut: return "timed_out";
    case WarpPassStatus::kNoAnswer: return "missing";
  }
  return "unknown";
}

Result<WarpResults> run_in_warp(const WarpInterpreter& interpreter, const fs::path& root, const fs::path& cache,
                                const std::vector<ComparedKernel>& subjects, const WarpRunLimits& limits) {
  auto scratch = backends::ScratchDirectory::create(fs::temp_directory_path());
  if (!scratch.ok()) return scratch.error();
  const fs::path folder = scratch->path();
  if (auto written = write_plan(folder, subjects); !written.ok()) return written.error();

  const cpu::ProcessResult result =
      cpu::run_process(interpreter.program,
                       {script(root).string(), folder.string(), "--jobs", std::to_string(limits.jobs), "--limit",
                        std::to_string(limits.time_limit_per_pass.count()), "--cache", cache.string()},
                       limits.total_time_limit);
  if (result.end_reason == cpu::ProcessResult::EndReason::kTimedOut) {
    return Error{
        fmt::format("Warp did not finish within {} s: {}", limits.total_time_limit.count(), tail(result.output))};
  }
  if (!result.succeeded()) return Error{"the run in Warp failed: " + tail(result.output)};

  WarpResults session;
  const json said = json::parse(std::ifstream(folder / "answers" / "session.json"), nullptr, false);
  if (said.is_discarded()) return Error{"the run in Warp wrote no session.json"};
  session.warp = said["warp"];
  session.numpy = said["numpy"];
  session.python = said["python"];
  session.processor_architecture = said["machine"];
  for (std::size_t s = 0; s < subjects.size(); ++s)
    session.launch_results.push_back(read_answers(folder / "answers", subjects[s], case_name(s)));
  return session;
}

}  // namespace assay::warp
