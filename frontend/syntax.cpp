#include "frontend/syntax.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

extern "C" const TSLanguage* tree_sitter_python();

namespace assay::frontend {
namespace {

constexpr auto kKindNames = std::to_array<std::pair<Syntax, std::string_view>>({
    {Syntax::kError, "ERROR"},
    {Syntax::kModule, "module"},
    {Syntax::kComment, "comment"},
    {Syntax::kIdentifier, "identifier"},
    {Syntax::kInteger, "integer"},
    {Syntax::kFloat, "float"},
    {Syntax::kString, "string"},
    {Syntax::kTrue, "true"},
    {Syntax::kFalse, "false"},
    {Syntax::kNone, "none"},
    {Syntax::kImport, "import_statement"},
    {Syntax::kImportFrom, "import_from_statement"},
    {Syntax::kAliasedImport, "aliased_import"},
    {Syntax::kDottedName, "dotted_name"},
    {Syntax::kDecoratedDefinition, "decorated_definition"},
    {Syntax::kDecorator, "decorator"},
    {Syntax::kFunctionDefinition, "function_definition"},
    {Syntax::kClassDefinition, "class_definition"},
    {Syntax::kParameters, "parameters"},
    {Syntax::kTypedParameter, "typed_parameter"},
    {Syntax::kTypedDefaultParameter, "typed_default_parameter"},
    {Syntax::kType, "type"},
    {Syntax::kBlock, "block"},
    {Syntax::kExpressionStatement, "expression_statement"},
    {Syntax::kAssignment, "assignment"},
    {Syntax::kAugmentedAssignment, "augmented_assignment"},
    {Syntax::kPatternList, "pattern_list"},
    {Syntax::kTuplePattern, "tuple_pattern"},
    {Syntax::kExpressionList, "expression_list"},
    {Syntax::kTuple, "tuple"},
    {Syntax::kIf, "if_statement"},
    {Syntax::kElif, "elif_clause"},
    {Syntax::kElse, "else_clause"},
    {Syntax::kFor, "for_statement"},
    {Syntax::kWhile, "while_statement"},
    {Syntax::kBreak, "break_statement"},
    {Syntax::kContinue, "continue_statement"},
    {Syntax::kReturn, "return_statement"},
    {Syntax::kPass, "pass_statement"},
    {Syntax::kParenthesized, "parenthesized_expression"},
    {Syntax::kBinary, "binary_operator"},
    {Syntax::kUnary, "unary_operator"},
    {Syntax::kNot, "not_operator"},
    {Syntax::kBoolean, "boolean_operator"},
    {Syntax::kComparison, "comparison_operator"},
    {Syntax::kConditional, "conditional_expression"},
    {Syntax::kAttribute, "attribute"},
    {Syntax::kSubscript, "subscript"},
    {Syntax::kCall, "call"},
    {Syntax::kArgumentList, "argument_list"},
    {Syntax::kKeywordArgument, "keyword_argument"},
});

/// In the order of Part.
constexpr auto kPartNames = std::to_array<std::string_view>(
    {"alias",       "alternative", "argument",    "arguments", "attribute",    "body", "condition",
     "consequence", "definition",  "function",    "left",      "module_name",  "name", "object",
     "operator",    "parameters",  "return_type", "right",     "superclasses", "type", "value"});
static_assert(kPartNames.size() == static_cast<std::size_t>(Part::kValue) + 1);

/// The grammar's numbers for what the reader knows by name, looked up once.
struct Grammar {
  std::vector<Syntax> kinds;
  std::array<TSFieldId, kPartNames.size()> parts{};

  Grammar() {
    const TSLanguage* language = tree_sitter_python();
    kinds.resize(ts_language_symbol_count(language), Syntax::kOther);
    for (TSSymbol symbol = 0; symbol < kinds.size(); ++symbol) {
      if (ts_language_symbol_type(language, symbol) != TSSymbolTypeRegular) continue;
      const std::string_view name = ts_language_symbol_name(language, symbol);
      for (const auto& [kind, kind_name] : kKindNames) {
        if (kind_name == name) kinds[symbol] = kind;
      }
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = ts_language_field_id_for_name(language, kPartNames[i].data(),
                                               static_cast<std::uint32_t>(kPartNames[i].size()));
    }
  }
};

const Grammar& grammar() {
  static const Grammar instance;
  return instance;
}

/// Closes a cursor at the end of its scope.
class Cursor {
 public:
  explicit Cursor(TSNode node) : cursor_(ts_tree_cursor_new(node)) {}
  ~Cursor() { ts_tree_cursor_delete(&cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  TSTreeCursor* get() { return &cursor_; }

 private:
  TSTreeCursor cursor_;
};

/// The offset of the first node that is more than `limit` levels down.
std::optional<std::uint32_t> too_deep(TSNode root, int limit) {
  Cursor cursor(root);
  int depth = 0;
  while (true) {
    if (ts_tree_cursor_goto_first_child(cursor.get())) {
      if (++depth <= limit) continue;
      return ts_node_start_byte(ts_tree_cursor_current_node(cursor.get()));
    }
    while (!ts_tree_cursor_goto_next_sibling(cursor.get())) {
      if (!ts_tree_cursor_goto_parent(cursor.get())) return std::nullopt;
      --depth;
    }
  }
}

/// Null if the parser gave up.
TSTree* parse_text(std::string_view text) {
  constexpr std::uint64_t kLongestMicroseconds = 10'000'000;
  struct DeleteParser {
    void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  };
  const std::unique_ptr<TSParser, DeleteParser> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) {
    throw std::logic_error("the Python grammar does not fit the tree-sitter library: rebuild after ci/setup");
  }
  ts_parser_set_timeout_micros(parser.get(), kLongestMicroseconds);
  return ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size()));
}

}  // namespace

Syntax Node::kind() const {
  const TSSymbol symbol = ts_node_symbol(node_);
  const auto& kinds = grammar().kinds;
  return symbol < kinds.size() ? kinds[symbol] : Syntax::kError;
}

std::string_view Node::text() const {
  const std::uint32_t start = ts_node_start_byte(node_);
  return source_->text().substr(start, ts_node_end_byte(node_) - start);
}

ir::Loc Node::loc() const { return source_->loc(ts_node_start_byte(node_)); }

Node Node::part(Part part) const {
  return {ts_node_child_by_field_id(node_, grammar().parts[static_cast<std::size_t>(part)]), *source_};
}

std::vector<Node> Node::children() const { return collect(true); }
std::vector<Node> Node::tokens() const { return collect(false); }

std::vector<Node> Node::collect(bool named_only) const {
  std::vector<Node> found;
  Cursor cursor(node_);
  if (!ts_tree_cursor_goto_first_child(cursor.get())) return found;
  do {
    const Node child(ts_tree_cursor_current_node(cursor.get()), *source_);
    if (named_only && !ts_node_is_named(child.node_)) continue;
    if (child.kind() != Syntax::kComment) found.push_back(child);
  } while (ts_tree_cursor_goto_next_sibling(cursor.get()));
  return found;
}

Result<SyntaxTree> SyntaxTree::parse(std::string text) {
  if (const auto checked = check_length_of_statements(text); !checked.ok()) return checked.error();
  SyntaxTree result(std::move(text));
  const std::string_view source = result.source_->text();
  result.tree_.reset(parse_text(source));
  if (result.tree_ && result.root().has_error()) {
    Tree joined(parse_text(join_bracketed_lines(source)));
    if (joined && !ts_node_has_error(ts_tree_root_node(joined.get()))) result.tree_ = std::move(joined);
  }
  if (!result.tree_) return Error{"parsing takes more than 10 s: split the file"};
  if (const auto offset = too_deep(ts_tree_root_node(result.tree_.get()), kDeepest)) {
    const ir::Loc loc = result.source_->loc(*offset);
    return Error{fmt::format("nested more than {} levels of syntax deep", kDeepest),
                 fmt::format("{}:{}", loc.line, loc.column)};
  }
  return result;
}

Node first_error(Node node) {
  if (!node.has_error()) return {};
  if (node.is(Syntax::kError) || node.is_missing()) return node;
  for (const Node child : node.tokens()) {
    if (const Node found = first_error(child)) return found;
  }
  return node;
}

std::string describe(Node node) {
  constexpr std::size_t kLongest = 48;
  if (node.is_missing()) return fmt::format("missing '{}'", node.grammar_name());
  if (node.is(Syntax::kCall)) {
    const Node function = node.part(Part::kFunction);
    if (function.text().size() <= kLongest) return std::string(function.text()) + "(...)";
  }
  std::string_view text = node.text();
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() <= kLongest) return std::string(text);
  std::size_t cut = kLongest - 3;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not inside a character
  return std::string(text.substr(0, cut)) + "...";
}

}  // namespace assay::frontend
