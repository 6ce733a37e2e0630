#include "harness/dataset/row_file.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/dataset/journal.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStart = 128;

/// The absolute path without symbolic links, "." and "..". Its last components need not exist.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path canonical = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : canonical;
}

bool is_same_or_inside(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

Result<void> scan_lines(const std::filesystem::path& path, const std::function<void(ScannedLine)>& take) {
  JsonScanner scanner;
  ScannedLine line{.line_number = 1};
  bool begun = false;
  const auto feed = [&](std::string_view piece) {
    begun |= !piece.empty();
    if (line.faulty_line_start.size() < kStart)
      line.faulty_line_start += piece.substr(0, kStart - line.faulty_line_start.size());
    scanner.feed(piece);
    if (!scanner.has_error()) line.text += piece;
    else line.text = std::string();  // frees the memory
  };
  const auto finish = [&] {
    line.syntax_error = scanner.end();
    const std::uint64_t next = line.line_number + 1;
    take(std::exchange(line, ScannedLine{.line_number = next}));
    begun = false;
  };
  Result<void> read = read_pieces(path, [&](std::string_view bytes) {
    for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      feed(bytes.substr(0, end));
      finish();
      bytes.remove_prefix(end + 1);
    }
    feed(bytes);
  });
  if (read.ok() && begun) finish();
  return read;
}

Result<void> for_each_row(const std::filesystem::path& path, const TakeRow& take) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path / kDataFolder, error))
      files.push_back(entry.path());
    if (files.empty()) return Error{"contains no dataset: data/ is missing or empty", path.string()};
    std::ranges::sort(files);
  } else {
    files.push_back(path);
  }
  for (const std::filesystem::path& file : files) {
    Result<LineReader> reader = LineReader::open(file);
    if (!reader.ok()) return reader.error();
    std::string line;
    for (std::uint64_t number = 1;; ++number) {
      const Result<bool> more = reader->next(line);
      if (!more.ok()) return more.error();
      if (!*more) break;
      const Result<bool> go_on = take(line, file, number);
      if (!go_on.ok()) return go_on.error();
      if (!*go_on) return {};
    }
  }
  return {};
}

Result<void> check_output_folder(const fs::path& dataset, const fs::path& output) {
  std::error_code error;
  const fs::path input = resolved(dataset);
  const fs::path folder = resolved(output);
  if (!fs::is_directory(input, error)) {
    const fs::path own_folder = input.parent_path();
    if (own_folder.filename() == kDataFolder && fs::exists(own_folder.parent_path() / kJournalFileName, error))
      return check_output_folder(own_folder.parent_path(), output);
    if (folder != own_folder) return {};
    return Error{
        fmt::format("output folder contains the input file {}; choose another folder", input.filename().string()),
        output.string()};
  }
  if (!is_same_or_inside(folder, input)) return {};
  return Error{"output folder is the folder of the dataset that is read, or inside of it; choose a folder outside",
               output.string()};
}

std::string split_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find_first_of("-."));
}

}  // namespace assay::dataset
