#include <utility>

#include <fmt/format.h>

#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/text_cursor.hpp"
#include "ir/text_names.hpp"
#include "ir/text_scope.hpp"

namespace assay::ir {
namespace {

bool nothing_reserved(std::string_view) { return false; }

/// Parses a struct after the keyword "struct".
void parse_struct(text::Cursor& cursor, text::ParsedDeclarations& scope) {
  const Loc loc = cursor.token().loc;
  const std::string_view name = text::parse_new_name(cursor, scope.structs, "struct", text::is_type_word);
  StructDef definition{.name = std::string(name), .fields = {}};
  text::IndexByName fields;
  cursor.expect("{");
  cursor.skip_newlines();
  while (!cursor.failed() && !cursor.at("}")) {
    const std::string_view field = text::parse_new_name(cursor, fields, "field", nothing_reserved);
    fields.emplace(field, static_cast<std::int32_t>(fields.size()));
    cursor.expect(":");
    definition.fields.push_back({std::string(field), text::parse_type(cursor, scope)});
    cursor.expect(text::TokenKind::kNewline, "the end of the line");
    cursor.skip_newlines();
  }
  cursor.expect("}");
  if (scope.module.structs.size() >= kMaxStructCount)
    cursor.fail(loc, fmt::format("module must have at most {} structs", kMaxStructCount));
  // Declared only after its fields: a struct cannot contain itself.
  scope.structs.emplace(name, static_cast<std::int32_t>(scope.structs.size()));
  scope.module.structs.push_back(std::move(definition));
}

std::int32_t parse_function_name(text::Cursor& cursor, const text::ParsedDeclarations& scope) {
  const text::Token name = cursor.expect(text::TokenKind::kWord, "the name of a function");
  const auto found = scope.functions.find(name.text);
  if (found != scope.functions.end()) return found->second;
  cursor.fail(name.loc, fmt::format("unknown function {}", name.text));
  return kNone;
}

/// Parses `f = g` after the keyword "gradient" or "replay".
void parse_custom(text::Cursor& cursor, text::ParsedDeclarations& scope, std::int32_t Function::*custom) {
  const Loc loc = cursor.token().loc;
  const std::int32_t function = parse_function_name(cursor, scope);
  cursor.expect("=");
  const std::int32_t other = parse_function_name(cursor, scope);
  if (cursor.failed()) return;
  std::int32_t& place = scope.module.functions[static_cast<std::size_t>(function)].*custom;
  if (place != kNone) cursor.fail(loc, "duplicate gradient or replay of the same function");
  place = other;
}

void parse_declaration(text::Cursor& cursor, text::ParsedDeclarations& scope) {
  if (cursor.accept("struct")) {
    parse_struct(cursor, scope);
  } else if (cursor.accept("func")) {
    text::parse_function(cursor, scope, false);
  } else if (cursor.accept("kernel")) {
    text::parse_function(cursor, scope, true);
  } else if (cursor.accept("gradient")) {
    parse_custom(cursor, scope, &Function::gradient_function_index);
  } else if (cursor.accept("replay")) {
    parse_custom(cursor, scope, &Function::replay_function_index);
  } else {
    cursor.fail_expecting("struct, func, kernel, gradient or replay");
  }
  if (!cursor.at(text::TokenKind::kEnd)) cursor.expect(text::TokenKind::kNewline, "the end of the line");
  cursor.take_comments();
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

Result<Module> parse_text(std::string_view text, std::string_view name) {
  if (text.size() > kMaxIrTextBytes) {
    return Error{fmt::format("text is too long: {} bytes, limit {}", text.size(), kMaxIrTextBytes), std::string(name)};
  }
  text::Cursor cursor(text, name);
  text::ParsedDeclarations scope;
  cursor.skip_newlines();
  while (!cursor.failed() && !cursor.at(text::TokenKind::kEnd)) {
    parse_declaration(cursor, scope);
    cursor.skip_newlines();
  }
  if (cursor.failed()) return cursor.error();
  scope.module.source_name = name;
  scope.module.source_lines = lines_of(text);
  return std::move(scope.module);
}

}  // namespace assay::ir
