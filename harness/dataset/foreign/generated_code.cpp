#include "harness/dataset/foreign/generated_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

namespace assay::foreign {
namespace {

constexpr std::size_t kHashDigits = 8;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_hash_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Attributes that precede a function's name and have arguments.
constexpr std::array<std::string_view, 6> kAttributes{"__launch_bounds__", "WP_MAXNREG", "WP_CLUSTER_DIMS",
                                                      "__attribute__",     "__declspec", "alignas"};

/// Reads the tokens of a text one after another.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  /// Takes the next token; false at the end of the text.
  bool next(CodeToken& token) {
    skip_blanks();
    if (at_ >= text_.size()) return false;
    const std::size_t begin = at_;
    token.line = line_;
    const char c = text_[at_];
    if (is_word(c)) {
      while (at_ < text_.size() && (is_word(text_[at_]) || (text_[at_] == '.' && is_number(begin))))
        ++at_;
      token.text = without_hashes(text_.substr(begin, at_ - begin));
      return true;
    }
    if (c == '"' || c == '\'') take_quoted(c);
    else ++at_;
    token.text = text_.substr(begin, at_ - begin);
    return true;
  }
  /// The rest of a preprocessor directive, with continued lines, as one token.
  CodeToken directive() {
    CodeToken token{.text = {}, .line = line_};
    bool was_blank = false;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
        break;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        ++at_;
        ++line_;
        was_blank = true;
        continue;
      }
      if (is_blank(text_[at_])) {
        was_blank = true;
        continue;
      }
      if (was_blank && !token.text.empty()) token.text += ' ';
      was_blank = false;
      token.text += text_[at_];
    }
    return token;
  }
  [[nodiscard]] bool at_directive() {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == '#';
  }
  [[nodiscard]] bool is_unclosed() const { return is_unclosed_; }

 private:
  [[nodiscard]] bool is_number(std::size_t begin) const {
    return std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (is_blank(rest.front())) {
        line_ += rest.front() == '\n' ? 1U : 0U;
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        is_unclosed_ |= end == std::string_view::npos;
        const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
        line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                       text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
        at_ = stop;
      } else {
        return;
      }
    }
  }
  void take_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    else is_unclosed_ = true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool is_unclosed_ = false;  ///< whether a comment or string is not closed
};

bool is_name(const CodeToken& token) {
  return is_word(token.text.front()) && std::isdigit(static_cast<unsigned char>(token.text.front())) == 0;
}

/// The name before the first parenthesis that does not belong to an attribute; without one, the last word before the
/// body.
void find_name(CodeSection& section) {
  const std::vector<CodeToken>& tokens = section.tokens;
  std::size_t last = tokens.size();
  for (std::size_t i = 0; i < section.body_token_index; ++i) {
    if (tokens[i].text == "(" && i > 0 && is_name(tokens[i - 1])) {
      if (std::ranges::find(kAttributes, tokens[i - 1].text) == kAttributes.end()) {
        last = i - 1;
        break;
      }
      for (int depth = 0; i < section.body_token_index; ++i) {
        depth += tokens[i].text == "(" ? 1 : tokens[i].text == ")" ? -1 : 0;
        if (depth == 0) break;
      }
      continue;
    }
    if (is_name(tokens[i])) last = i;
  }
  if (last == tokens.size()) return;
  section.name_token_index = last;
  section.name = tokens[last].text;
}

/// Collects tokens until a section is complete.
class Splitter {
 public:
  void add_directive(CodeToken token) {
    if (depth_ > 0 || !section_.tokens.empty()) {
      section_.tokens.push_back(std::move(token));
      return;
    }
    code_.has_preamble |= token.text.starts_with("#include") || token.text.starts_with("# include");
    CodeSection section{.name = {}, .tokens = {}, .name_token_index = 0, .body_token_index = 1, .is_directive = true};
    section.tokens.push_back(std::move(token));
    code_.sections.push_back(std::move(section));
  }

  void add(CodeToken token) {
    const std::string& text = token.text;
    if (depth_ == 0 && section_.tokens.empty() && (text == "}" || text == ";")) return;  // the end of extern "C"
    const bool opens = text == "{";
    if (opens && depth_ == 0 && is_linkage()) {
      section_ = unfinished();
      return;
    }
    if (opens && depth_++ == 0) section_.body_token_index = section_.tokens.size();
    const bool closes = text == "}" && depth_ > 0 && --depth_ == 0;
    const bool ends = text == ";" && depth_ == 0;
    section_.tokens.push_back(std::move(token));
    if (closes || ends) finish();
  }

  GeneratedCode done(bool is_unclosed) {
    if (!section_.tokens.empty()) code_.unfinished_section_line = section_.tokens.front().line;
    else if (is_unclosed)
      code_.unfinished_section_line = code_.sections.empty() ? 1 : code_.sections.back().tokens.back().line;
    return std::move(code_);
  }

 private:
  /// Whether the tokens so far are `extern "C"`, whose braces enclose whole sections.
  [[nodiscard]] bool is_linkage() const {
    return section_.tokens.size() == 2 && section_.tokens[0].text == "extern" && section_.tokens[1].text == "\"C\"";
  }

  void finish() {
    section_.body_token_index = std::min(section_.body_token_index, section_.tokens.size());
    find_name(section_);
    code_.sections.push_back(std::move(section_));
    section_ = unfinished();
  }
  static CodeSection unfinished() {
    CodeSection section;
    section.body_token_index = static_cast<std::size_t>(-1);
    return section;
  }

  GeneratedCode code_;
  CodeSection section_ = unfinished();
  int depth_ = 0;  ///< number of open braces
};

constexpr std::string_view kAdjoint = "adj_";

/// A name such as `adj_square_7`, in parts; the number is empty if the name does not end in one.
struct NumberedName {
  std::string_view prefix;  ///< "adj_" or empty
  std::string_view base;    ///< the name without prefix and number
  std::string_view number;  ///< digits after the last underscore
};

NumberedName parts_of(std::string_view name) {
  NumberedName parts;
  if (name.starts_with(kAdjoint)) {
    parts.prefix = name.substr(0, kAdjoint.size());
    name.remove_prefix(kAdjoint.size());
  }
  const std::size_t underscore = name.rfind('_');
  const bool has_number = underscore != std::string_view::npos && underscore > 0 && underscore + 1 < name.size() &&
                          name.find_first_not_of("0123456789", underscore + 1) == std::string_view::npos;
  parts.base = has_number ? name.substr(0, underscore) : name;
  if (has_number) parts.number = name.substr(underscore + 1);
  return parts;
}

}  // namespace

std::set<std::string> numbered_functions(const GeneratedCode& code) {
  std::set<std::string> names;
  for (const CodeSection& section : code.sections) {
    const NumberedName parts = parts_of(section.name);
    const bool is_function = section.body_token_index > section.name_token_index + 1;
    if (is_function && !parts.number.empty()) names.emplace(parts.base);
  }
  return names;
}

void renumber_functions(GeneratedCode& code, const std::set<std::string>& names) {
  std::map<std::string, std::string> renamed;  // base and number: the new number
  std::map<std::string, int> counts;
  for (CodeSection& section : code.sections) {
    for (CodeToken& token : section.tokens) {
      const NumberedName parts = parts_of(token.text);
      const std::string base(parts.base);
      if (parts.number.empty() || !names.contains(base)) continue;
      const auto [at, is_new] = renamed.try_emplace(base + "_" + std::string(parts.number));
      if (is_new) at->second = base + "_" + std::to_string(counts[base]++);
      token.text = std::string(parts.prefix) + at->second;
    }
    if (!section.name.empty()) section.name = section.tokens[section.name_token_index].text;
  }
}

std::string without_hashes(std::string_view word) {
  std::string result;
  for (std::size_t i = 0; i < word.size();) {
    const std::size_t end = i + 1 + kHashDigits;
    const bool is_hash = word[i] == '_' && i > 0 && end <= word.size() && (end == word.size() || word[end] == '_') &&
                         std::ranges::all_of(word.substr(i + 1, kHashDigits), is_hash_digit);
    if (is_hash) i = end;
    else result += word[i++];
  }
  return result;
}

GeneratedCode split_code(std::string_view text) {
  Tokens tokens(text);
  Splitter splitter;
  while (true) {
    if (tokens.at_directive()) {
      splitter.add_directive(tokens.directive());
      continue;
    }
    CodeToken token;
    if (!tokens.next(token)) break;
    splitter.add(std::move(token));
  }
  return splitter.done(tokens.is_unclosed());
}

std::string_view line_of(std::string_view text, std::uint32_t number) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < number; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  text = text.substr(begin, text.find('\n', begin) - begin);
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

}  // namespace assay::foreign
