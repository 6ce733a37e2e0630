#include "harness/dataset/foreign/foreign_rows.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/dataset/json_scan.hpp"
#include "harness/dataset/row_file.hpp"
#include "support/files.hpp"

namespace assay::foreign {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxDocumentBytes = std::size_t{256} << 20;

bool is_row_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") || name.ends_with(".jsonl.zst") ||
         name.ends_with(".json");
}

const Json* find_member(const Json& row, const std::string& path) {
  if (!row.is_object()) return nullptr;
  if (path.starts_with('/')) {
    const Json::json_pointer pointer(path);
    return row.contains(pointer) ? &row.at(pointer) : nullptr;
  }
  const auto found = row.find(path);
  return found == row.end() ? nullptr : &*found;
}

/// Reads the fields of one row and records the first that is missing, empty or has the wrong type.
class FieldReader {
 public:
  explicit FieldReader(ForeignRow& row) : row_(row) {}

  void read(const FieldPath& paths, const char* field, std::string& text) {
    for (const std::string& path : paths) {
      const Json* const member = find_member(row_.row_json, path);
      if (member == nullptr || member->is_null()) {
        report(RowDamage::kMissingField, field, fmt::format("{}: the row has no member '{}'", field, path));
      } else if (!member->is_string()) {
        report(RowDamage::kInvalidRow, field, fmt::format("{}: member '{}' must be a string", field, path));
      } else if (member->get_ref<const std::string&>().find_first_not_of(" \t\r\n") == std::string::npos) {
        report(RowDamage::kMissingField, field, fmt::format("{}: member '{}' is empty", field, path));
      } else {
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += member->get_ref<const std::string&>();
      }
    }
  }
  void read_id(const FieldPath& paths) {
    const Json* const member = paths.empty() ? nullptr : find_member(row_.row_json, paths.front());
    if (member != nullptr && member->is_string() && !member->get_ref<const std::string&>().empty())
      row_.id = member->get<std::string>();
    else if (member != nullptr && member->is_number_integer()) row_.id = member->dump();
    else if (!paths.empty())
      report(RowDamage::kMissingField, "id",
             fmt::format("id: member '{}' must be a string that is not empty, or an integer", paths.front()));
  }

 private:
  void report(RowDamage damage, const char* field, std::string message) {
    if (row_.damage) return;
    row_.damage = RowDamageFinding{.damage = damage,
                                   .message = std::move(message),
                                   .field = field,
                                   .function = {},
                                   .found_text = {},
                                   .expected = {}};
  }

  ForeignRow& row_;
};

/// Takes the rows of the files one after another.
class RowReader {
 public:
  RowReader(const FieldMapping& mapping, const std::function<Result<void>(ForeignRow)>& take)
      : mapping_(mapping), take_(take) {}

  Result<void> read_lines(const DatasetInputFile& file) {
    Result<void> taken;
    const Result<void> read = dataset::scan_lines(file.path, [&](const dataset::ScannedLine& line) {
      if (!taken.ok()) return;
      if (line.syntax_error) taken = add_invalid(file, line.line_number, *line.syntax_error);
      else taken = add(file, line.line_number, Json::parse(line.text, nullptr, false));
    });
    return taken.ok() ? read : taken;
  }

  Result<void> read_document(const DatasetInputFile& file) {
    std::string text;
    dataset::JsonScanner scanner({.max_line_bytes = kMaxDocumentBytes});
    const Result<void> read = read_pieces(file.path, [&](std::string_view piece) {
      if (scanner.has_error()) return;
      text += piece;
      std::string line(piece);  // the scanner takes one line
      std::ranges::replace(line, '\n', ' ');
      scanner.feed(line);
    });
    if (!read.ok()) return read;
    if (const auto fault = scanner.end()) return add_invalid(file, 1, *fault);
    Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded()) return add_invalid(file, 1, {"", "a line break in a string", "valid JSON"});
    if (!value.is_array()) return add(file, 1, std::move(value));
    std::uint64_t item = 0;
    for (Json& row : value) {
      if (Result<void> taken = add(file, ++item, std::move(row)); !taken.ok()) return taken;
    }
    return {};
  }

 private:
  ForeignRow blank(const DatasetInputFile& file, std::uint64_t line) {
    ForeignRow row;
    row.row_index = next_++;
    row.file = file.name;
    row.line = line;
    row.id = fmt::format("{}:{}", file.name, line);
    return row;
  }

  Result<void> add_invalid(const DatasetInputFile& file, std::uint64_t line, const dataset::JsonScanError& fault) {
    ForeignRow row = blank(file, line);
    const std::string place = fault.json_pointer.empty() ? "" : fault.json_pointer + ": ";
    row.damage =
        RowDamageFinding{.damage = RowDamage::kInvalidRow,
                         .message = fmt::format("{}found {}, expected {}", place, fault.found_text, fault.expected),
                         .field = {},
                         .function = {},
                         .found_text = {},
                         .expected = {}};
    return take_(std::move(row));
  }

  Result<void> add(const DatasetInputFile& file, std::uint64_t line, Json value) {
    ForeignRow row = blank(file, line);
    row.row_json = std::move(value);
    FieldReader reader(row);
    if (!row.row_json.is_object()) {
      row.damage = RowDamageFinding{.damage = RowDamage::kInvalidRow,
                                    .message = "the row must be a JSON object",
                                    .field = {},
                                    .function = {},
                                    .found_text = {},
                                    .expected = {}};
    }
    reader.read_id(mapping_.id);
    reader.read(mapping_.python, "python", row.python);
    reader.read(mapping_.cpp_source, "cpp", row.cpp_source);
    reader.read(mapping_.cuda_source, "cuda", row.cuda_source);
    reader.read(mapping_.kernel, "kernel", row.kernel);
    reader.read(mapping_.warp_version, "warp_version", row.warp_version);
    return take_(std::move(row));
  }

  const FieldMapping& mapping_;
  const std::function<Result<void>(ForeignRow)>& take_;
  std::uint64_t next_ = 0;  ///< number of the next row
};

}  // namespace

Result<std::vector<DatasetInputFile>> input_files(const fs::path& path) {
  std::vector<fs::path> paths;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error) && is_row_file(at->path())) paths.push_back(at->path());
    }
    if (error) return Error{"cannot list the files of the folder: " + error.message(), path.string()};
    if (paths.empty()) return Error{"contains no .jsonl, .jsonl.gz, .jsonl.zst or .json file", path.string()};
    std::ranges::sort(paths);
  } else {
    if (!is_row_file(path))
      return Error{"must be a folder or a .jsonl, .jsonl.gz, .jsonl.zst or .json file", path.string()};
    paths.push_back(path);
  }
  std::vector<DatasetInputFile> files;
  for (const fs::path& file : paths) {
    Result<std::string> hash = sha256_of_file(file);
    if (!hash.ok()) return hash.error();
    const fs::path name = file == path ? file.filename() : file.lexically_relative(path);
    files.push_back({.path = file, .name = name.string(), .sha256 = hash.take()});
  }
  return files;
}

Result<void> read_rows(const std::vector<DatasetInputFile>& files, const FieldMapping& mapping,
                       const std::function<Result<void>(ForeignRow)>& take) {
  RowReader reader(mapping, take);
  for (const DatasetInputFile& file : files) {
    Result<void> read = file.name.ends_with(".json") ? reader.read_document(file) : reader.read_lines(file);
    if (!read.ok()) return read;
  }
  return {};
}

Result<std::uint64_t> count_rows(const fs::path& dataset, const FieldMapping& mapping) {
  const Result<std::vector<DatasetInputFile>> files = input_files(dataset);
  if (!files.ok()) return files.error();
  std::uint64_t rows = 0;
  const Result<void> read = read_rows(*files, mapping, [&](const ForeignRow&) -> Result<void> {
    ++rows;
    return {};
  });
  if (!read.ok()) return read.error();
  return rows;
}

}  // namespace assay::foreign
