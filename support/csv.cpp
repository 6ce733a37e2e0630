#include "support/csv.hpp"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<CsvRow>> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      if (take_line_end()) continue;
      CsvRow row{.line = line_, .fields = {}};
      do {
        Result<std::string> field = text_.substr(at_).starts_with('"') ? quoted() : plain();
        if (!field.ok()) return field.error();
        row.fields.push_back(field.take());
      } while (take(","));
      if (at_ < text_.size() && !take_line_end()) {
        return Error{"unexpected text after a quoted field, expected a comma or a line end", std::to_string(line_)};
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  bool take(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  bool take_line_end() {
    if (!take("\r\n") && !take("\n")) return false;
    ++line_;
    return true;
  }

  Result<std::string> plain() {
    std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    if (text_.substr(0, end).ends_with('\r') && text_.substr(end).starts_with('\n')) --end;
    const std::size_t begin = std::exchange(at_, end);
    return std::string(text_.substr(begin, end - begin));
  }

  Result<std::string> quoted() {
    const int first_line = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && !text_.substr(at_).starts_with("\"\"")) {
        ++at_;
        return field;
      }
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
    return Error{"quoted field is not closed", std::to_string(first_line)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

Result<std::vector<CsvRow>> read_csv(std::string_view text) { return Reader(text).rows(); }

}  // namespace assay
