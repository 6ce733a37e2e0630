#include "harness/dataset/foreign/regeneration.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "backends/python/confined_process.hpp"
#include "backends/python/python_process.hpp"
#include "harness/dataset/foreign/regenerate_text.hpp"
#include "support/files.hpp"

namespace assay::foreign {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 30;
constexpr std::chrono::seconds kStartLimit{120};
/// First line of the answers of regenerate.py, once Warp has been started.
constexpr std::string_view kStarted = "{\"started\": true}\n";

json request_of(const ForeignRow& row, const FieldMapping& mapping, std::size_t index) {
  json targets = json::array();
  if (!row.cpp_source.empty()) targets.push_back("cpu");
  if (!row.cuda_source.empty()) targets.push_back("cuda");
  return {{"row", index},
          {"python", row.python},
          {"kernel", row.kernel},
          {"options", mapping.warp_module_options},
          {"cpp_block", block_size_of(row.cpp_source).value_or(1)},
          {"targets", std::move(targets)}};
}

/// The damage that a status of regenerate.py names.
RowDamage find_row_damage(const std::string& status) {
  const auto row = std::ranges::find(kDamages, status, &RowDamageDescription::name);
  return row == kDamages.end() ? RowDamage::kPythonError : row->damage;
}

RegeneratedCode result_of(const json& answer) {
  const std::string status = answer.at("status");
  if (status != "generated") {
    const std::string message = answer.at("message");
    return {.damage = find_row_damage(status),
            .message = message.empty() ? status : message,
            .line = answer.value("line", std::int64_t{0})};
  }
  return {.kernel = answer.at("kernel"),
          .kernel_symbol = without_hashes(answer.at("mangled").get<std::string>()),
          .cpp_source = answer.value("cpu", ""),
          .cuda_source = answer.value("cuda", "")};
}

/// The answers by index of the row. Lines that the executed code may have written itself are ignored unless they are
/// answers.
std::map<std::size_t, RegeneratedCode> read_answers(const std::string& text) {
  std::map<std::size_t, RegeneratedCode> answers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const json answer = json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                    text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    at = end + 1;
    if (!answer.is_object()) continue;
    try {
      answers.emplace(answer.at("row").get<std::size_t>(), result_of(answer));
    } catch (const json::exception&) {
      continue;
    }
  }
  return answers;
}

Result<std::map<std::size_t, RegeneratedCode>> run(const std::string& requests, std::size_t count,
                                                   const RegenerationOptions& options) {
  const python::ScratchFolder scratch;
  const fs::path cache = scratch.path() / "cache";
  std::error_code error;
  fs::create_directory(cache, error);
  if (error) return Error{"cannot create a temporary folder: " + error.message(), cache.string()};
  for (const auto& [name, text] : {std::pair<const char*, std::string_view>("regenerate.py", kRegenerateScript),
                                   std::pair<const char*, std::string_view>("requests.jsonl", requests)}) {
    if (Result<void> written = put_file(scratch.path() / name, text); !written.ok()) return written.error();
  }
  const auto limit = kStartLimit + 3 * options.time_limit * static_cast<int>(count);
  const Result<python::ConfinedResult> result = python::run_confined(
      {.executable = options.python_interpreter,
       .arguments = {(scratch.path() / "regenerate.py").string(), (scratch.path() / "requests.jsonl").string(),
                     fmt::format("{}", options.time_limit.count())},
       .environment = python::python_environment(scratch.path(), cache),
       .writable_folder = cache,
       .time_limit = limit,
       .memory_limit_bytes = kMemoryBytes});
  if (!result.ok()) return result.error();
  if (!result->answer.starts_with(kStarted))
    return Error{"Warp cannot be started: " + python::last_printed_line(result->output_tail),
                 options.python_interpreter.string()};
  return read_answers(result->answer);
}

}  // namespace

Result<std::vector<RegeneratedCode>> regenerate_code(std::span<const ForeignRow> rows, const FieldMapping& mapping,
                                                     const RegenerationOptions& options) {
  std::vector<RegeneratedCode> results(rows.size());
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].damage) pending.push_back(i);
  // Rows without an answer get a process of their own: code of another row may have ended the shared one.
  for (std::size_t together = pending.size(); !pending.empty(); together = 1) {
    const std::vector<std::size_t> part(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(together));
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(together));
    std::string requests;
    for (const std::size_t i : part)
      requests += request_of(rows[i], mapping, i).dump() + "\n";
    Result<std::map<std::size_t, RegeneratedCode>> answers = run(requests, part.size(), options);
    if (!answers.ok()) return answers.error();
    for (const std::size_t i : part) {
      const auto answer = answers->find(i);
      if (answer != answers->end()) results[i] = std::move(answer->second);
      else if (part.size() > 1) pending.push_back(i);
      else results[i].message = "executing the Python source ended the process";
    }
  }
  return results;
}

}  // namespace assay::foreign
