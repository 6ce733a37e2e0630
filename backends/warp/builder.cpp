#include "backends/warp/builder.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/process.hpp"
#include "backends/device/artifact_files.hpp"
#include "backends/warp/host_text.hpp"
#include "backends/worker/protocol.hpp"
#include "support/hash.hpp"

namespace assay::warp {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using BuildStatus = KernelBuildResult::Status;
using std::chrono::milliseconds;

/// For starting Warp and precompiling its headers, plus for each kernel.
constexpr milliseconds kBuildStartLimit{120'000}, kKernelLimit{20'000};
constexpr std::size_t kNameDigits = 16;
constexpr std::size_t kMessageBytes = 4000;

/// The layout of the shared memory for the Python side of the protocol.
json protocol() {
  return {{"commands", worker::kCommandsOffset},
          {"buffers", worker::kBuffersOffset},
          {"message", offsetof(worker::ControlBlock, message)},
          {"message_bytes", worker::kMessageBufferBytes},
          {"rows", offsetof(worker::ControlBlock, rows)},
          {"row_bytes", sizeof(worker::LaunchProgressEntry)},
          {"row_nanoseconds", offsetof(worker::LaunchProgressEntry, nanoseconds)}};
}

Result<void> put(const fs::path& path, std::string_view text) {
  if (backends::write_file(path, text)) return {};
  return Error{"cannot write the file; is the disk full?", path.string()};
}

BuildStatus status_of(const std::string& text) {
  if (text == "built") return BuildStatus::kBuilt;
  return text == "unsupported" ? BuildStatus::kUnsupported : BuildStatus::kRejected;
}

/// The error in a line of a compiler's output, from the name of the file on: "builtin.h(2167): error: ..."; or empty.
std::string_view compiler_error_in(std::string_view line) {
  const std::size_t at = line.find(": error: ");
  if (at == std::string_view::npos) return {};
  const std::size_t folder = line.rfind('/', at);
  return folder == std::string_view::npos ? line : line.substr(folder + 1);
}

/// Reads the lines that the process printed. Returns the kernel that it started last without finishing it.
std::string read_answers(const std::string& output, std::map<std::string, KernelBuildResult>& builds) {
  std::string started, compiler_error;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string_view text = std::string_view(output).substr(at, end - at);
    const json line = json::parse(text, nullptr, false);
    at = end + 1;
    if (!line.is_object() || !line.contains("kernel") || !line.contains("status")) {
      if (compiler_error.empty()) compiler_error = compiler_error_in(text);
      continue;
    }
    const std::string kernel = line.at("kernel");
    if (line.at("status") == "started") {
      started = kernel;
      compiler_error.clear();
      continue;
    }
    started.clear();
    std::string message = line.value("message", "");
    if (line.at("status") == "rejected" && !compiler_error.empty()) message += ": " + compiler_error;
    const json text_of_kernel = line.value("text", json::object());
    builds[kernel] = {.status = status_of(line.at("status")),
                      .message = message.substr(0, kMessageBytes),
                      .code_json = line.contains("code") ? line.at("code").dump() : "",
                      .file_name = text_of_kernel.value("file", kernel),
                      .own_text_obstacle = text_of_kernel.value("obstacle", ""),
                      .has_backward = text_of_kernel.value("has_backward", true)};
  }
  return started;
}

/// The last line that is not empty.
std::string last_line_of(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return std::string(text.substr(text.rfind('\n') + 1).substr(0, kMessageBytes));
}

/// Why a process that started no kernel ended.
KernelBuildResult start_failure_of(const cpu::ProcessResult& result, milliseconds limit) {
  using EndReason = cpu::ProcessResult::EndReason;
  switch (result.end_reason) {
    case EndReason::kNotStarted: break;
    case EndReason::kTimedOut:
      return {BuildStatus::kUnavailable, fmt::format("Warp did not start within {} ms", limit.count()), {}};
    case EndReason::kSignaled:
      return {BuildStatus::kUnavailable,
              fmt::format("Warp was killed by signal {} when it started", result.status_or_signal),
              {}};
    case EndReason::kExited: {
      const std::string reason = last_line_of(result.output);
      return {BuildStatus::kUnavailable,
              fmt::format("Warp cannot start: {}",
                          reason.empty() ? fmt::format("exit status {}", result.status_or_signal) : reason),
              {}};
    }
  }
  return {BuildStatus::kResourceFailure, "cannot run Python: " + result.output, {}};
}

KernelBuildResult failure_of(const cpu::ProcessResult& result, milliseconds limit) {
  using EndReason = cpu::ProcessResult::EndReason;
  switch (result.end_reason) {
    case EndReason::kNotStarted: return {BuildStatus::kResourceFailure, "cannot run Python: " + result.output, {}};
    case EndReason::kTimedOut:
      return {BuildStatus::kTimedOut,
              fmt::format("Warp was killed after {} ms while it built the kernel", limit.count()),
              {}};
    case EndReason::kSignaled:
      return {BuildStatus::kCrashed,
              fmt::format("Warp was killed by signal {} while it built the kernel", result.status_or_signal),
              {}};
    case EndReason::kExited: break;
  }
  const std::size_t tail = result.output.size() > kMessageBytes ? result.output.size() - kMessageBytes : 0;
  return {BuildStatus::kCrashed,
          fmt::format("Python exited with status {}: {}", result.status_or_signal, result.output.substr(tail)),
          {}};
}

}  // namespace

Result<void> write_host(const fs::path& folder, const PythonHostSettings& settings) {
  if (Result<void> written = put(folder / "host.py", kHostScript); !written.ok()) return written;
  if (Result<void> written = put(folder / "kernel_text.py", kKernelTextScript); !written.ok()) return written;
  return put(folder / "settings.json", json{{"device", settings.device_name},
                                            {"warp_device", settings.warp_device},
                                            {"cache", settings.cache_directory.string()},
                                            {"architectures", settings.architectures},
                                            {"protocol", protocol()}}
                                           .dump());
}

Result<std::string> write_kernel(const fs::path& folder, const backends::PythonBinding& binding,
                                 const backends::PythonSource& source, bool has_backward,
                                 const backends::PythonOwnText* own_text, const std::string& code) {
  json parameters = json::array(), gradients = json::array();
  for (const backends::PythonBinding::Parameter& parameter : binding.parameters)
    parameters.push_back({{"path", parameter.struct_field_path},
                          {"rank", parameter.rank},
                          {"name", parameter.name},
                          {"bytes", parameter.bytes}});
  for (const backends::PythonGradient& gradient : source.gradients)
    gradients.push_back(
        {{"parameter", gradient.parameter_index}, {"offset", gradient.field_offset}, {"bytes", gradient.bytes}});
  json described = {
      {"kernel", source.kernel_name},
      {"dimensions", binding.launch_dimension_count},
      {"tiled", binding.threads_per_tile_block > 0},
      {"block_dim", binding.threads_per_tile_block > 0 ? binding.threads_per_tile_block : kThreadsPerBlock},
      {"has_backward", has_backward},
      {"parameters", std::move(parameters)},
      {"gradients", std::move(gradients)}};
  std::string own_file;
  if (own_text != nullptr) {
    own_file = own_text->file_text;
    described["own"] = {
        {"line", own_text->line}, {"kernel", own_text->kernel_name}, {"paths", own_text->struct_field_paths}};
  }
  const std::string name =
      "assay_" + sha256_hex(described.dump() + source.text + own_file + code).substr(0, kNameDigits);
  described["module"] = name;
  if (Result<void> written = put(folder / (name + ".json"), described.dump()); !written.ok()) return written.error();
  if (Result<void> written = put(folder / (name + ".py"), source.text); !written.ok()) return written.error();
  if (own_text != nullptr) {
    if (Result<void> written = put(folder / (name + ".source"), own_file); !written.ok()) return written.error();
  }
  if (code.empty()) return name;
  if (Result<void> written = put(folder / (name + ".code"), code); !written.ok()) return written.error();
  return name;
}

std::map<std::string, KernelBuildResult> build(const WarpInterpreter& interpreter, const fs::path& folder,
                                               std::span<const std::string> names, PythonHostCommand command) {
  const std::string word = command == PythonHostCommand::kWriteGeneratedCode ? "text" : "build";
  std::map<std::string, KernelBuildResult> builds;
  std::vector<std::string> left(names.begin(), names.end());
  while (!left.empty()) {
    std::vector<std::string> arguments{"-B", (folder / "host.py").string(), word, folder.string()};
    arguments.insert(arguments.end(), left.begin(), left.end());
    const auto limit = kBuildStartLimit + kKernelLimit * static_cast<int>(left.size());
    const cpu::ProcessResult result = cpu::run_process(interpreter.program, arguments, limit);
    const std::string unfinished = read_answers(result.output, builds);
    // A process that built nothing would not build anything if it were started again.
    const bool is_useless = unfinished.empty() && !builds.contains(left.front());
    for (const std::string& name : left)
      if (is_useless) builds[name] = start_failure_of(result, limit);
      else if (name == unfinished) builds[name] = failure_of(result, limit);
    const std::size_t before = left.size();
    std::erase_if(left, [&](const std::string& name) { return builds.contains(name); });
    if (left.size() == before) break;
  }
  return builds;
}

}  // namespace assay::warp
