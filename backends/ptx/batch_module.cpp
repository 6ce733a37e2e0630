#include "backends/ptx/batch_module.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace assay::ptx {

namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// Reads words, names and symbols of a text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next word: a name, a number, a directive such as ".func", or one other character; empty at the end.
  std::string_view next() {
    skip_blanks();
    if (at_ == text_.size()) return {};
    const std::size_t start = at_++;
    const char first = text_[start];
    if (first == '.' || is_name_character(first)) {
      while (at_ < text_.size() && is_name_character(text_[at_]))
        ++at_;
    } else if (first == '"') {
      at_ = std::min(text_.find('"', at_), text_.size() - 1) + 1;
    }
    return text_.substr(start, at_ - start);
  }
  /// Moves behind the end of the current line.
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("//")) skip_line();
      else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      else return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

enum class PartKind : std::uint8_t { kLine, kFunction, kVariable, kSection };

PartKind kind_of(std::string_view directive) {
  if (directive == ".entry" || directive == ".func") return PartKind::kFunction;
  if (directive == ".global" || directive == ".const" || directive == ".shared") return PartKind::kVariable;
  return directive == ".section" ? PartKind::kSection : PartKind::kLine;
}

bool is_linkage(std::string_view word) {
  return word == ".visible" || word == ".extern" || word == ".weak" || word == ".common";
}

bool is_name(std::string_view word) {
  return !word.empty() && is_name_character(word[0]) && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
}

/// Finds the end of a function, variable or section and the first name outside of parentheses.
std::string_view read_part(Scanner& scanner, PartKind kind) {
  std::string_view name;
  int braces = 0;
  int parentheses = 0;
  for (std::string_view word = scanner.next(); !word.empty(); word = scanner.next()) {
    if (word == "(") ++parentheses;
    if (word == ")") --parentheses;
    if (word == "{") ++braces;
    if (word == "}" && --braces == 0 && kind != PartKind::kVariable) break;
    if (word == ";" && braces == 0) break;
    if (name.empty() && parentheses == 0 && is_name(word)) name = word;
  }
  return kind == PartKind::kSection ? std::string_view() : name;
}

std::optional<int> number_at(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The line of the kernel's standalone source on which the text of each helper starts.
std::unordered_map<std::string_view, int> first_lines_of_helpers(const backends::EmittedKernel& kernel) {
  std::unordered_map<std::string_view, int> lines;
  int line = 1;
  for (const backends::SourceHelper& helper : kernel.helpers) {
    lines.emplace(helper.name, line);
    line += static_cast<int>(std::ranges::count(helper.text, '\n'));
  }
  return lines;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Replaces the file and line after each ".loc" and "inlined_at" by file 1 and the line that `line_of` returns.
template <typename LineOf>
std::string with_lines(std::string_view text, const LineOf& line_of) {
  std::string result;
  result.reserve(text.size());
  constexpr std::array<std::string_view, 2> kMarks{".loc", "inlined_at"};
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(kMarks[0]), text.find(kMarks[1]));
    if (at == std::string_view::npos) break;
    const std::size_t length = text.substr(at).starts_with(kMarks[0]) ? kMarks[0].size() : kMarks[1].size();
    result += text.substr(0, at + length);
    text.remove_prefix(at + length);
    std::string_view rest = text;
    const std::optional<int> file = number_at(rest);
    const std::optional<int> line = file ? number_at(rest) : std::nullopt;
    if (!line) continue;
    fmt::format_to(std::back_inserter(result), "\t1 {}", line_of(*file, *line));
    text = rest;
  }
  return result += text;
}

}  // namespace

BatchModule::BatchModule(std::string_view ptx) {
  Scanner scanner(ptx);
  std::unordered_set<std::string_view> names;
  for (;;) {
    const std::size_t before = scanner.position();
    std::string_view word = scanner.next();
    if (word.empty()) break;
    while (is_linkage(word))
      word = scanner.next();
    const PartKind kind = kind_of(word);
    std::string_view name;
    if (word == ".file") {
      std::string_view rest = ptx.substr(scanner.position());
      const int number = number_at(rest).value_or(0);
      static_cast<void>(scanner.next());
      const std::string_view quoted = scanner.next();
      files_.push_back({number, quoted.substr(1, std::max<std::size_t>(quoted.size(), 2) - 2)});
      continue;
    }
    if (kind == PartKind::kLine) scanner.skip_line();
    else name = read_part(scanner, kind);
    if (!name.empty()) names.insert(name);
    declarations_.push_back({ptx.substr(before, scanner.position() - before), name, {}});
  }
  for (Declaration& part : declarations_) {
    if (part.name.empty()) continue;
    Scanner inside(part.text);
    for (std::string_view word = inside.next(); !word.empty(); word = inside.next())
      if (names.contains(word)) part.identifiers.push_back(word);
  }
}

/// By part, whether an entry point uses it.
std::vector<bool> BatchModule::used_by(std::span<const backends::BuiltEntryPoint> entries) const {
  std::unordered_multimap<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < declarations_.size(); ++i)
    by_name.emplace(declarations_[i].name, i);
  std::vector<bool> used(declarations_.size());
  std::vector<std::string_view> open;
  for (const backends::BuiltEntryPoint& entry : entries)
    open.emplace_back(entry.symbol);
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    const auto [first, last] = by_name.equal_range(name);
    for (auto it = first; it != last; ++it) {
      if (used[it->second]) continue;
      used[it->second] = true;
      const auto& identifiers = declarations_[it->second].identifiers;
      open.insert(open.end(), identifiers.begin(), identifiers.end());
    }
  }
  return used;
}

std::string BatchModule::extract_kernel_module(const backends::EmittedKernel& kernel,
                                               std::span<const backends::BuiltEntryPoint> entries) const {
  const std::unordered_map<std::string_view, int> helpers = first_lines_of_helpers(kernel);
  const auto line_of = [&](int number, int line) {
    const auto file = std::ranges::find(files_, number, &FileDirective::number);
    const std::optional<backends::BatchFile> meaning =
        file == files_.end() ? std::nullopt : backends::batch_file(file->name);
    if (!meaning || meaning->kernel_position) return line;
    const auto helper = helpers.find(meaning->helper_name);
    return helper == helpers.end() ? line : helper->second + line - 1;
  };
  const std::vector<bool> used = used_by(entries);
  std::string text;
  for (std::size_t i = 0; i < declarations_.size(); ++i)
    if (declarations_[i].name.empty() || used[i]) text += with_lines(declarations_[i].text, line_of);
  for (std::size_t i = 0; i < entries.size(); ++i)
    replace_all(text, entries[i].symbol, kernel.entry_points[i].symbol);
  if (!files_.empty()) text += fmt::format("\n\t.file\t1 \"{}.cu\"\n", kernel.name);
  return text;
}

}  // namespace assay::ptx
