#include "harness/dataset/journal.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/json_text.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"

namespace assay::dataset {

namespace fs = std::filesystem;
using nlohmann::json;
using Json = nlohmann::ordered_json;

namespace {

JournalBlock block_from(const json& line) {
  JournalBlock block{.block_number = line.at("block")};
  for (const json& row : line.at("rows"))
    block.rows.push_back({.slot = row.at("slot"), .attempt = row.at("attempt"), .id = row.at("id")});
  for (const json& rejected : line.at("rejected"))
    block.rejected.push_back(rejected_from(rejected));
  return block;
}

}  // namespace

fs::path block_file(const fs::path& dir, std::uint64_t block) {
  return dir / kPartialFolder / fmt::format("block-{:08}.jsonl.zst", block);
}

std::string to_line(const JournalBlock& block) {
  std::string line;
  JsonObjectWriter object(line);
  object.add("record", "block");
  object.add("block", static_cast<std::int64_t>(block.block_number));
  append_json_array(object.begin("rows"), block.rows, [&](const JournalRow& row) {
    JsonObjectWriter members(line);
    members.add("slot", static_cast<std::int64_t>(row.slot));
    members.add("attempt", std::int64_t{row.attempt});
    members.add("id", row.id);
    members.close();
  });
  append_json_array(object.begin("rejected"), block.rejected, [&](const RejectedCandidate& one) {
    line += to_json(one).dump(-1, ' ', false, Json::error_handler_t::replace);
  });
  object.close();
  return line;
}

std::string to_text(const Journal& journal) {
  std::string text = to_json(journal.plan).dump() + "\n";
  std::uint64_t rows = 0;
  for (const JournalBlock& block : journal.blocks) {
    text += to_line(block) + "\n";
    rows += block.rows.size();
  }
  if (journal.has_ended) text += Json({{"record", "end"}, {"rows", rows}}).dump() + "\n";
  return text;
}

Result<std::optional<Journal>> read_journal(const fs::path& dir) {
  const fs::path path = dir / kJournalFileName;
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<Journal>();
  const Result<std::string> text = read_file_text(path);
  if (!text.ok()) return text.error();
  const schemas::Validator validator(schemas::kManifestSchemaText);
  Journal journal;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = text->find('\n', begin);
    if (end == std::string::npos) break;  // truncated: the process that wrote it ended
    const std::string where = fmt::format("{}:{}", path.string(), ++number);
    const json line = json::parse(text->begin() + static_cast<std::ptrdiff_t>(begin),
                                  text->begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    begin = end + 1;
    if (line.is_discarded()) return Error{"line is not valid JSON", where};
    if (const auto diagnostics = validator.diagnostics(line); !diagnostics.empty()) {
      return Error{diagnostics.front().text(), where};
    }
    const std::string record = line.at("record");
    if ((record == "plan") != (number == 1))
      return Error{"the first line, and only the first line, must be a plan record; got a " + record + " record",
                   where};
    if (record == "plan") journal.plan = plan_from(line);
    else if (record == "block") journal.blocks.push_back(block_from(line));
    else journal.has_ended = true;
  }
  if (number == 0) return std::optional<Journal>();
  return std::optional(std::move(journal));
}

Result<JournalWriter> JournalWriter::create(const fs::path& dir, const Journal& journal) {
  const fs::path path = dir / kJournalFileName;
  const std::string text = to_text(journal);
  std::error_code error;
  fs::create_directories(dir, error);  // the error of opening the file says more
  const std::uintmax_t size = fs::file_size(path, error);
  // Fails if another run writes to the folder.
  const auto lock = harness::LineAppender::reopen(path, error ? 0 : static_cast<std::int64_t>(size));
  if (!lock.ok()) return lock.error();
  if (Result<void> put = put_file(path, text); !put.ok()) return put.error();
  auto lines = harness::LineAppender::reopen(path, static_cast<std::int64_t>(text.size()));
  if (!lines.ok()) return lines.error();
  return JournalWriter(lines.take());
}

Result<void> JournalWriter::append(const JournalBlock& block) {
  if (Result<void> appended = journal_file_.append(to_line(block)); !appended.ok()) return appended;
  return journal_file_.sync();
}

}  // namespace assay::dataset
