#include "backends/candidate/host/host_functions.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace assay::candidate {
namespace {

bool is_identifier_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The source in which each character of a comment or of a text in quotation marks is a space. `extern "C"` stays.
std::string without_comments(std::string_view source) {
  constexpr std::string_view kLanguage = "\"C\"";
  std::string result(source);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, result.size()); ++i)
      if (result[i] != '\n') result[i] = ' ';
    return std::min(end, result.size());
  };
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    if (rest.starts_with("//")) {
      at = blank(at, std::min(source.find('\n', at), source.size()));
    } else if (rest.starts_with("/*")) {
      const std::size_t end = source.find("*/", at + 2);
      at = blank(at, end == std::string_view::npos ? source.size() : end + 2);
    } else if (rest.starts_with(kLanguage)) {
      at += kLanguage.size();
    } else if (rest.front() == '"' || (rest.front() == '\'' && (at == 0 || !is_identifier_part(source[at - 1])))) {
      std::size_t end = at + 1;
      while (end < source.size() && source[end] != rest.front() && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      at = blank(at, end + 1);
    } else {
      ++at;
    }
  }
  return result;
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

/// The position after the parenthesis that closes the one at `at`.
std::size_t after_parentheses(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return text.size();
}

/// Whether the parentheses at `at` are the parameters of a function that is defined here.
bool is_definition(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '(') return false;
  const std::size_t body = skip_spaces(text, after_parentheses(text, at));
  return body < text.size() && text[body] == '{';
}

/// Whether the word is part of the text, and not of a longer word.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_identifier_part(text[at - 1])) && (end == text.size() || !is_identifier_part(text[end])))
      return true;
  }
  return false;
}

}  // namespace

bool defines_main(std::string_view source) {
  constexpr std::string_view kName = "main";
  const std::string text = without_comments(source);
  for (std::size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + 1)) {
    const std::size_t end = at + kName.size();
    const std::size_t before = at == 0 ? std::string::npos : text.find_last_not_of(" \t\r\n", at - 1);
    const bool follows_type = before != std::string::npos && before + 1 < at && is_identifier_part(text[before]);
    if (follows_type && is_definition(text, skip_spaces(text, end))) return true;
  }
  return false;
}

std::vector<std::string> extern_c_functions(std::string_view source) {
  constexpr std::string_view kExtern = "extern";
  constexpr std::string_view kLanguage = "\"C\"";
  const std::string text = without_comments(source);
  std::vector<std::string> names;
  for (std::size_t at = text.find(kLanguage); at != std::string::npos; at = text.find(kLanguage, at + 1)) {
    const std::size_t before = at == 0 ? std::string::npos : text.find_last_not_of(" \t\r\n", at - 1);
    if (before == std::string::npos || before + 1 < kExtern.size() ||
        text.substr(before + 1 - kExtern.size(), kExtern.size()) != kExtern)
      continue;
    const std::size_t begin = at + kLanguage.size();
    const std::size_t open = text.find_first_of("({;", begin);
    if (open == std::string::npos || !is_definition(text, open)) continue;
    const std::string declaration = text.substr(begin, open - begin);
    std::size_t end = declaration.size();
    while (end > 0 && !is_identifier_part(declaration[end - 1]))
      --end;
    std::size_t start = end;
    while (start > 0 && is_identifier_part(declaration[start - 1]))
      --start;
    const std::string name = declaration.substr(start, end - start);
    if (declaration.find("__global__") == std::string::npos && !name.empty() && !name.starts_with("__"))
      names.push_back(name);
  }
  return names;
}

std::vector<std::string> tensor_functions(std::string_view source) {
  const std::string text = without_comments(source);
  std::vector<std::string> names;
  for (std::size_t open = text.find('('); open != std::string::npos; open = text.find('(', open + 1)) {
    const std::size_t end = open == 0 ? 0 : text.find_last_not_of(" \t\r\n", open - 1) + 1;
    std::size_t start = end;
    while (start > 0 && is_identifier_part(text[start - 1]))
      --start;
    if (start == end || start == 0 || !is_definition(text, open)) continue;
    // A declaration follows another one or a line of the preprocessor.
    const std::size_t before = text.find_last_of(";{}#", start - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string_view result = std::string_view(text).substr(begin, start - begin);
    if (has_word(result, "Tensor") && result.find('(') == std::string_view::npos)
      names.push_back(text.substr(start, end - start));
  }
  return names;
}

}  // namespace assay::candidate
