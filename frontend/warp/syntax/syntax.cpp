#include "frontend/warp/syntax/syntax.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <tree_sitter/api.h>

#include "frontend/warp/syntax/line_structure.hpp"

extern "C" const TSLanguage* tree_sitter_python();

namespace assay::frontend {

/// One node of the tree.
struct SyntaxNodeData {
  static constexpr std::uint8_t kNoPart = 0xFF;

  const SourceText* source = nullptr;
  const char* grammar_name = nullptr;  ///< of the grammar, which lives as long as the program
  std::uint32_t start = 0;             ///< bytes
  std::uint32_t end = 0;
  std::uint32_t parent = 0;  ///< position in the list; the root's own
  SyntaxKind kind = SyntaxKind::kOther;
  std::uint8_t part = kNoPart;  ///< which part of its parent this is: the number of a Part
  bool is_named = false;
  bool is_missing = false;
  bool has_error = false;
  std::span<const SyntaxNode> named{};
  std::span<const SyntaxNode> tokens{};
  SyntaxNode self{};
};

namespace {

constexpr auto kKindNames = std::to_array<std::pair<SyntaxKind, std::string_view>>({
    {SyntaxKind::kError, "ERROR"},
    {SyntaxKind::kModule, "module"},
    {SyntaxKind::kComment, "comment"},
    {SyntaxKind::kIdentifier, "identifier"},
    {SyntaxKind::kInteger, "integer"},
    {SyntaxKind::kFloat, "float"},
    {SyntaxKind::kString, "string"},
    {SyntaxKind::kTrue, "true"},
    {SyntaxKind::kFalse, "false"},
    {SyntaxKind::kNone, "none"},
    {SyntaxKind::kImport, "import_statement"},
    {SyntaxKind::kImportFrom, "import_from_statement"},
    {SyntaxKind::kAliasedImport, "aliased_import"},
    {SyntaxKind::kDottedName, "dotted_name"},
    {SyntaxKind::kDecoratedDefinition, "decorated_definition"},
    {SyntaxKind::kDecorator, "decorator"},
    {SyntaxKind::kFunctionDefinition, "function_definition"},
    {SyntaxKind::kClassDefinition, "class_definition"},
    {SyntaxKind::kParameters, "parameters"},
    {SyntaxKind::kTypedParameter, "typed_parameter"},
    {SyntaxKind::kTypedDefaultParameter, "typed_default_parameter"},
    {SyntaxKind::kType, "type"},
    {SyntaxKind::kBlock, "block"},
    {SyntaxKind::kExpressionStatement, "expression_statement"},
    {SyntaxKind::kAssignment, "assignment"},
    {SyntaxKind::kAugmentedAssignment, "augmented_assignment"},
    {SyntaxKind::kPatternList, "pattern_list"},
    {SyntaxKind::kTuplePattern, "tuple_pattern"},
    {SyntaxKind::kExpressionList, "expression_list"},
    {SyntaxKind::kTuple, "tuple"},
    {SyntaxKind::kIf, "if_statement"},
    {SyntaxKind::kElif, "elif_clause"},
    {SyntaxKind::kElse, "else_clause"},
    {SyntaxKind::kFor, "for_statement"},
    {SyntaxKind::kWhile, "while_statement"},
    {SyntaxKind::kBreak, "break_statement"},
    {SyntaxKind::kContinue, "continue_statement"},
    {SyntaxKind::kReturn, "return_statement"},
    {SyntaxKind::kPass, "pass_statement"},
    {SyntaxKind::kParenthesized, "parenthesized_expression"},
    {SyntaxKind::kBinary, "binary_operator"},
    {SyntaxKind::kUnary, "unary_operator"},
    {SyntaxKind::kNot, "not_operator"},
    {SyntaxKind::kBoolean, "boolean_operator"},
    {SyntaxKind::kComparison, "comparison_operator"},
    {SyntaxKind::kConditional, "conditional_expression"},
    {SyntaxKind::kAttribute, "attribute"},
    {SyntaxKind::kSubscript, "subscript"},
    {SyntaxKind::kCall, "call"},
    {SyntaxKind::kArgumentList, "argument_list"},
    {SyntaxKind::kKeywordArgument, "keyword_argument"},
});

/// In the order of Part.
constexpr auto kPartNames = std::to_array<std::string_view>(
    {"alias",       "alternative", "argument",    "arguments", "attribute",    "body", "condition",
     "consequence", "definition",  "function",    "left",      "module_name",  "name", "object",
     "operator",    "parameters",  "return_type", "right",     "superclasses", "type", "value"});
static_assert(kPartNames.size() == static_cast<std::size_t>(SyntaxField::kValue) + 1);

/// The grammar's numbers for known node kinds and fields, looked up once.
struct Grammar {
  std::vector<SyntaxKind> kinds;
  std::vector<std::uint8_t> parts;  ///< by field

  Grammar() {
    const TSLanguage* language = tree_sitter_python();
    kinds.resize(ts_language_symbol_count(language), SyntaxKind::kOther);
    for (TSSymbol symbol = 0; symbol < kinds.size(); ++symbol) {
      if (ts_language_symbol_type(language, symbol) != TSSymbolTypeRegular) continue;
      const std::string_view name = ts_language_symbol_name(language, symbol);
      for (const auto& [kind, kind_name] : kKindNames) {
        if (kind_name == name) kinds[symbol] = kind;
      }
    }
    parts.resize(ts_language_field_count(language) + 1, SyntaxNodeData::kNoPart);
    for (std::size_t i = 0; i < kPartNames.size(); ++i) {
      const TSFieldId field = ts_language_field_id_for_name(language, kPartNames[i].data(),
                                                            static_cast<std::uint32_t>(kPartNames[i].size()));
      parts.at(field) = static_cast<std::uint8_t>(i);
    }
  }

  SyntaxKind kind_of(TSNode node) const {
    const TSSymbol symbol = ts_node_symbol(node);
    return symbol < kinds.size() ? kinds[symbol] : SyntaxKind::kError;
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

/// The nodes of a tree without comments, parents first; or the offset of the first node more than `limit` levels deep.
std::variant<std::vector<SyntaxNodeData>, std::uint32_t> flatten(TSNode root, const SourceText& source, int limit) {
  const Grammar& known = grammar();
  std::vector<SyntaxNodeData> entries;
  // In dense code a node takes two to three bytes of text.
  entries.reserve(source.text().size() / 2 + 1);
  Cursor cursor(root);
  std::vector<std::uint32_t> path = {0};
  while (true) {
    const TSNode node = ts_tree_cursor_current_node(cursor.get());
    const SyntaxKind kind = known.kind_of(node);
    const auto position = static_cast<std::uint32_t>(entries.size());
    if (kind != SyntaxKind::kComment) {
      entries.push_back({.source = &source,
                         .grammar_name = ts_node_type(node),
                         .start = ts_node_start_byte(node),
                         .end = ts_node_end_byte(node),
                         .parent = path.back(),
                         .kind = kind,
                         .part = known.parts[ts_tree_cursor_current_field_id(cursor.get())],
                         .is_named = ts_node_is_named(node),
                         .is_missing = ts_node_is_missing(node),
                         .has_error = ts_node_has_error(node)});
    }
    if (ts_tree_cursor_goto_first_child(cursor.get())) {
      path.push_back(position);
      // The root is its own parent.
      if (std::cmp_less_equal(path.size() - 1, limit)) continue;
      return ts_node_start_byte(ts_tree_cursor_current_node(cursor.get()));
    }
    while (!ts_tree_cursor_goto_next_sibling(cursor.get())) {
      if (!ts_tree_cursor_goto_parent(cursor.get())) return entries;
      path.pop_back();
    }
  }
}

/// The children of all entries, named ones or all, and the start of each entry's children.
struct Children {
  std::vector<SyntaxNode> nodes;
  std::vector<std::size_t> begins;  ///< one more than there are entries

  Children(const std::vector<SyntaxNodeData>& entries, bool named_only) : begins(entries.size() + 1, 0) {
    const auto counts = [&](std::size_t i) { return i != 0 && (!named_only || entries[i].is_named); };
    for (std::size_t i = 0; i < entries.size(); ++i)
      begins[entries[i].parent + 1] += counts(i);
    for (std::size_t i = 0; i < entries.size(); ++i)
      begins[i + 1] += begins[i];
    nodes.resize(begins.back());
    std::vector<std::size_t> next = begins;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (counts(i)) nodes[next[entries[i].parent]++] = SyntaxNode(entries[i]);
    }
  }

  std::span<const SyntaxNode> of(std::size_t entry) const {
    return std::span(nodes).subspan(begins[entry], begins[entry + 1] - begins[entry]);
  }
};

/// "print" or "exec" if the node is such a statement of Python 2, which the grammar supports; else empty. What Python 3
/// reads as an expression, as `print >> file` and `print -1`, is not counted.
std::string_view python_2_statement(const SyntaxNodeData& entry) {
  const std::string_view kind = entry.grammar_name;
  if (!entry.is_named || (kind != "print_statement" && kind != "exec_statement")) return {};
  const std::string_view name = kind.substr(0, kind.find('_'));
  const std::string_view text = entry.source->text().substr(entry.start + name.size());
  const std::size_t argument = text.find_first_not_of(" \t");
  if (argument == std::string_view::npos) return {};
  const char c = text[argument];
  const bool is_operand = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '"' || c == '\'';
  return is_operand ? name : std::string_view();
}

struct DeleteTree {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::unique_ptr<TSTree, DeleteTree>;

/// Null if the parser gave up.
TSTree* parse_text(std::string_view text) {
  constexpr std::uint64_t kLongestMicroseconds = 10'000'000;
  struct DeleteParser {
    void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  };
  const std::unique_ptr<TSParser, DeleteParser> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) {
    throw std::logic_error("the Python grammar is incompatible with the tree-sitter library; run ci/setup and rebuild");
  }
  ts_parser_set_timeout_micros(parser.get(), kLongestMicroseconds);
  return ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size()));
}

}  // namespace

SyntaxKind SyntaxNode::kind() const { return node_data_ == nullptr ? SyntaxKind::kOther : node_data_->kind; }

std::string_view SyntaxNode::grammar_name() const { return node_data_ == nullptr ? "" : node_data_->grammar_name; }

std::string_view SyntaxNode::text() const {
  if (node_data_ == nullptr) return {};
  return node_data_->source->text().substr(node_data_->start, node_data_->end - node_data_->start);
}

ir::Loc SyntaxNode::loc() const {
  return node_data_ == nullptr ? ir::Loc{} : node_data_->source->loc(node_data_->start);
}

bool SyntaxNode::has_error() const { return node_data_ != nullptr && node_data_->has_error; }
bool SyntaxNode::is_missing() const { return node_data_ != nullptr && node_data_->is_missing; }

SyntaxNode SyntaxNode::part(SyntaxField part) const {
  for (const SyntaxNode child : tokens()) {
    if (child.node_data_->part == static_cast<std::uint8_t>(part)) return child;
  }
  return {};
}

std::span<const SyntaxNode> SyntaxNode::children() const {
  return node_data_ == nullptr ? std::span<const SyntaxNode>() : node_data_->named;
}
std::span<const SyntaxNode> SyntaxNode::tokens() const {
  return node_data_ == nullptr ? std::span<const SyntaxNode>() : node_data_->tokens;
}

std::span<const SyntaxNode> SyntaxNode::elements(std::initializer_list<SyntaxKind> lists) const {
  if (node_data_ == nullptr || std::ranges::find(lists, node_data_->kind) != lists.end()) return children();
  return {&node_data_->self, 1};
}

SyntaxTree::SyntaxTree(std::string text, std::int32_t lines_before)
    : source_(std::make_unique<const SourceText>(std::move(text), lines_before)) {}
SyntaxTree::SyntaxTree(SyntaxTree&&) noexcept = default;
SyntaxTree& SyntaxTree::operator=(SyntaxTree&&) noexcept = default;
SyntaxTree::~SyntaxTree() = default;

SyntaxNode SyntaxTree::root() const { return nodes_in_text_order_.front().self; }

Result<SyntaxTree> SyntaxTree::parse(std::string text, std::int32_t lines_before) {
  if (const auto checked = check_statement_length(text); !checked.ok()) return checked.error();
  if (const auto checked = check_line_structure(text); !checked.ok()) return checked.error();
  SyntaxTree result(std::move(text), lines_before);
  const std::string_view source = result.source_->text();
  Tree tree(parse_text(source));
  if (tree && ts_node_has_error(ts_tree_root_node(tree.get()))) {
    Tree joined(parse_text(join_bracketed_lines(source)));
    if (joined && !ts_node_has_error(ts_tree_root_node(joined.get()))) tree = std::move(joined);
  }
  if (!tree) return Error{"parsing takes more than 10 s; split the file"};
  auto flat = flatten(ts_tree_root_node(tree.get()), *result.source_, kMaxDepth);
  const auto place = [&](std::uint32_t offset) {
    const ir::Loc loc = result.source_->loc(offset);
    return fmt::format("{}:{}", loc.line - lines_before, loc.column);
  };
  if (const auto* offset = std::get_if<std::uint32_t>(&flat))
    return Error{fmt::format("syntax is nested more than {} levels deep", kMaxDepth), place(*offset)};
  for (const SyntaxNodeData& entry : std::get<std::vector<SyntaxNodeData>>(flat)) {
    if (const std::string_view name = python_2_statement(entry); !name.empty())
      return Error{fmt::format("{0} is a function in Python 3: write {0}(...)", name), place(entry.start)};
  }
  // Moving a vector does not move its elements.
  result.nodes_in_text_order_ = std::move(std::get<std::vector<SyntaxNodeData>>(flat));
  Children named(result.nodes_in_text_order_, true);
  Children tokens(result.nodes_in_text_order_, false);
  for (std::size_t i = 0; i < result.nodes_in_text_order_.size(); ++i) {
    SyntaxNodeData& entry = result.nodes_in_text_order_[i];
    entry.named = named.of(i);
    entry.tokens = tokens.of(i);
    entry.self = SyntaxNode(entry);
  }
  result.named_children_ = std::move(named.nodes);
  result.all_children_ = std::move(tokens.nodes);
  return result;
}

bool is_slice(SyntaxNode node) { return node.grammar_name() == "slice"; }

bool is_starred(SyntaxNode node) { return node.grammar_name() == "list_splat"; }

SliceParts slice_parts(SyntaxNode slice) {
  SliceParts parts;
  SyntaxNode* next[] = {&parts.start, &parts.stop, &parts.step};
  std::size_t at = 0;
  for (const SyntaxNode token : slice.tokens()) {
    if (token.text() == ":") ++at;
    else if (at < 3) *next[at] = token;
  }
  return parts;
}

SyntaxNode first_error(SyntaxNode node) {
  if (!node.has_error()) return {};
  if (node.is(SyntaxKind::kError) || node.is_missing()) return node;
  for (const SyntaxNode child : node.tokens()) {
    if (const SyntaxNode found = first_error(child)) return found;
  }
  return node;
}

std::string describe(SyntaxNode node) {
  constexpr std::size_t kLongest = 48;
  if (node.is_missing()) return fmt::format("missing '{}'", node.grammar_name());
  if (node.is(SyntaxKind::kCall)) {
    const SyntaxNode function = node.part(SyntaxField::kFunction);
    if (function.text().size() <= kLongest) return std::string(function.text()) + "(...)";
  }
  std::string_view text = node.text();
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() <= kLongest) return std::string(text);
  std::size_t cut = kLongest - 3;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not inside a UTF-8 sequence
  return std::string(text.substr(0, cut)) + "...";
}

}  // namespace assay::frontend
