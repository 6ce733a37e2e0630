#include "harness/dataset/row_file.hpp"

#include <utility>

#include "support/files.hpp"

namespace assay::dataset {
namespace {

constexpr std::size_t kStart = 128;

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

}  // namespace assay::dataset
