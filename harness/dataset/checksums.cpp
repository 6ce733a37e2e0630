#include "harness/dataset/checksums.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/dataset/journal.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHexDigits = 64;
constexpr std::string_view kSeparator = "  ";

struct ChecksumLine {
  std::string sum;
  std::string file_name;
};

/// The parts of a line of the form "<64 hexadecimal digits>  <file name>"; nothing if it has another form, or if the
/// file is outside of the dataset.
std::optional<ChecksumLine> parse_line(const std::string& line) {
  if (line.find_first_not_of("0123456789abcdef") != kHexDigits) return std::nullopt;
  if (line.compare(kHexDigits, kSeparator.size(), kSeparator) != 0) return std::nullopt;
  const fs::path name(line.substr(kHexDigits + kSeparator.size()));
  if (name.empty() || name.is_absolute() || name != name.lexically_normal() || *name.begin() == "..")
    return std::nullopt;
  return ChecksumLine{.sum = line.substr(0, kHexDigits), .file_name = name.string()};
}

/// The files that a finished dataset needs a checksum of.
std::vector<std::string> files_with_checksum(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir / kDataFolder, error))
    names.push_back(fmt::format("{}/{}", kDataFolder, entry.path().filename().string()));
  std::ranges::sort(names);
  for (const std::string_view name :
       {kQuarantineFileName, std::string_view("README.md"), std::string_view("schema.json"), kJournalFileName})
    names.emplace_back(name);
  return names;
}

}  // namespace

void check_checksums(const fs::path& dir, std::vector<RowError>& diagnostics) {
  const std::string file(kChecksumFileName);
  const Result<std::string> text = read_file_text(dir / file);
  if (!text.ok()) {
    diagnostics.push_back({.file = file,
                           .found_text = quoted_excerpt(text.error().message),
                           .expected = "checksums in the format of sha256sum"});
    return;
  }
  std::map<std::string, std::uint64_t> line_by_name;
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    const std::string line = text->substr(begin, end - begin);
    begin = end + 1;
    ++number;
    const auto diagnose_line = [&](std::string found, std::string expected) {
      diagnostics.push_back(
          {.file = file, .line = number, .found_text = std::move(found), .expected = std::move(expected)});
    };
    const std::optional<ChecksumLine> entry = parse_line(line);
    if (!entry) {
      diagnose_line(quoted_excerpt(line), "64 lower-case hexadecimal digits, two spaces and the name of a file");
      continue;
    }
    const auto [earlier, is_new] = line_by_name.emplace(entry->file_name, number);
    if (!is_new) {
      diagnose_line(fmt::format("a second line for {}", quoted_excerpt(entry->file_name)),
                    fmt::format("one line for each file; the first is line {}", earlier->second));
    }
    const Result<std::string> sum = sha256_of_file(dir / entry->file_name);
    if (!sum.ok()) {
      diagnostics.push_back({.file = entry->file_name,
                             .found_text = quoted_excerpt(sum.error().message),
                             .expected = "the file listed in checksums.sha256"});
    } else if (*sum != entry->sum) {
      diagnostics.push_back({.file = entry->file_name,
                             .found_text = "content with checksum " + *sum,
                             .expected = fmt::format("\"{}\" according to checksums.sha256", entry->sum)});
    }
  }
  for (const std::string& name : files_with_checksum(dir)) {
    if (line_by_name.contains(name)) continue;
    std::error_code error;
    const bool exists = fs::exists(dir / name, error);
    diagnostics.push_back(
        {.file = exists ? name : file,
         .found_text = exists ? "a file that checksums.sha256 does not list" : fmt::format("no line for {}", name),
         .expected = "a line of checksums.sha256 for each file"});
  }
}

}  // namespace assay::dataset
