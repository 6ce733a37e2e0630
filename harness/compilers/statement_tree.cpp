#include "harness/compilers/statement_tree.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "support/trim.hpp"

namespace assay::compilers {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Without comments and preprocessor lines, and with single blanks.
std::string plain_text(std::string_view text) {
  std::string plain;
  bool starts_line = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool directive = starts_line && text[i] == '#';
    if (directive || text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      plain += ' ';
      starts_line = true;
      continue;
    }
    if (text[i] == '\n') starts_line = true;
    else if (!is_space(text[i])) starts_line = false;
    if (!is_space(text[i])) plain += text[i];
    else if (!plain.empty() && plain.back() != ' ') plain += ' ';
  }
  return plain;
}

/// Parses up to the end of the block that `at` is in.
std::vector<CudaStatement> parse_block(std::string_view text, std::size_t& at) {
  std::vector<CudaStatement> statements;
  std::size_t begin = at;
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth > 0) continue;
    if (c == '}') return statements;
    if (c != ';' && c != '{') continue;
    CudaStatement statement{.text = std::string(trimmed(text.substr(begin, at - 1 - begin))), .is_block = c == '{'};
    if (statement.is_block) statement.body = parse_block(text, at);
    if (statement.is_block || !statement.text.empty()) statements.push_back(std::move(statement));
    begin = at;
  }
  return statements;
}

bool is_else(const CudaStatement& statement) { return statement.is_block && statement.text.starts_with("else"); }

bool fits_line(const CudaStatement& statement) {
  const bool is_control = statement.text.starts_with("if") || statement.text.starts_with("for") ||
                          statement.text.starts_with("while") || statement.text.starts_with("else");
  return is_control && statement.body.size() == 1 && !statement.body.front().is_block &&
         !statement.body.front().text.starts_with("if");  // whose "else" would change its meaning
}

/// A definition of a type ends with a semicolon.
bool is_struct(const CudaStatement& statement) {
  return statement.text.find("struct ") != std::string::npos && statement.text.find('(') == std::string::npos;
}

void print(const std::vector<CudaStatement>& statements, const std::string& indentation, std::string& text) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const CudaStatement& statement = statements[i];
    const bool joins = is_else(statement) && i > 0 && statements[i - 1].is_block && !fits_line(statements[i - 1]);
    if (joins) text.back() = ' ';
    else text += indentation;
    if (!statement.is_block) {
      text += statement.text + ";\n";
    } else if (fits_line(statement)) {
      text += statement.text + " " + statement.body.front().text + ";\n";
    } else {
      text += statement.text + " {\n";
      print(statement.body, indentation + "  ", text);
      text += indentation + (is_struct(statement) ? "};\n" : "}\n");
    }
  }
}

}  // namespace

std::vector<CudaStatement> parse_statements(std::string_view text) {
  const std::string plain = plain_text(text);
  std::size_t at = 0;
  return parse_block(plain, at);
}

std::string to_text(const std::vector<CudaStatement>& statements) {
  std::string text;
  print(statements, "", text);
  return text;
}

std::size_t count_of(const std::vector<CudaStatement>& statements) {
  std::size_t count = statements.size();
  for (const CudaStatement& statement : statements)
    count += count_of(statement.body);
  return count;
}

std::size_t line_count(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!trimmed(text.substr(0, end)).empty()) ++count;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return count;
}

}  // namespace assay::compilers
