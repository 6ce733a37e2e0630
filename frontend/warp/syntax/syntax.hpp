// The syntax tree of a Python file, copied from tree-sitter.
//
// tree-sitter's tree is designed for editing: each access to a node's children or their names walks the tree. The
// parser accesses them often, so the tree is copied once into a flat list. SyntaxTree owns the list and the source
// text; a SyntaxNode is a pointer into the list and must not outlive it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/syntax/source_text.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// The kinds of syntax nodes that the parser distinguishes. A node of any other kind has the kind kOther and is known
/// only by its name in the grammar.
enum class SyntaxKind : std::uint8_t {
  kOther,   ///< any kind that is not in this list
  kError,   ///< a part of the text that has a syntax error
  kModule,  ///< the whole file
  kComment,
  kIdentifier,
  kInteger,
  kFloat,
  kString,
  kTrue,
  kFalse,
  kNone,
  kImport,
  kImportFrom,
  kAliasedImport,        ///< module as name
  kDottedName,           ///< a.b
  kDecoratedDefinition,  ///< a function or class definition with its decorators
  kDecorator,
  kFunctionDefinition,
  kClassDefinition,
  kParameters,
  kTypedParameter,         ///< x: type
  kTypedDefaultParameter,  ///< x: type = default
  kType,                   ///< an annotation
  kBlock,
  kExpressionStatement,  ///< an expression as a statement
  kAssignment,
  kAugmentedAssignment,  ///< x += 1
  kPatternList,          ///< targets without parentheses: a, b = ...
  kTuplePattern,         ///< targets in parentheses: (a, b) = ...
  kExpressionList,       ///< values without parentheses: return a, b
  kTuple,                ///< (a, b)
  kIf,
  kElif,
  kElse,
  kFor,
  kWhile,
  kBreak,
  kContinue,
  kReturn,
  kPass,           ///< the statement `pass`
  kParenthesized,  ///< (a)
  kBinary,         ///< an arithmetic or bitwise operator with two operands: a + b
  kUnary,          ///< -a, +a, ~a
  kNot,            ///< not a
  kBoolean,        ///< a and b, a or b
  kComparison,     ///< a < b
  kConditional,    ///< a if condition else b
  kAttribute,      ///< a.x
  kSubscript,      ///< a[i]
  kCall,
  kArgumentList,     ///< the arguments of a call or a class, in parentheses
  kKeywordArgument,  ///< name=value
};

/// The named fields of a syntax node that the parser uses.
enum class SyntaxField : std::uint8_t {
  kAlias,        ///< the new name in an import
  kAlternative,  ///< `elif` or `else` of an `if`
  kArgument,     ///< operand of an operator
  kArguments,    ///< arguments of a call
  kAttribute,
  kBody,         ///< block of a compound statement or definition
  kCondition,    ///< condition of an `if` or `while`
  kConsequence,  ///< block of an `if` that runs if the condition is true
  kDefinition,   ///< definition that decorators belong to
  kFunction,     ///< callee of a call
  kLeft,         ///< left side of an assignment or loop
  kModuleName,   ///< module of an import
  kName,
  kObject,    ///< object of an attribute
  kOperator,  ///< operator of a unary, binary or augmented expression
  kParameters,
  kReturnType,
  kRight,         ///< right side of an assignment or loop
  kSuperclasses,  ///< base classes of a class
  kType,
  kValue,  ///< value of an item with a name, such as a keyword argument
};

struct SyntaxNodeData;

/// A node of the syntax tree, or null. A null node has the kind kOther and neither text nor children.
class SyntaxNode {
 public:
  SyntaxNode() = default;
  explicit SyntaxNode(const SyntaxNodeData& entry) : node_data_(&entry) {}

  explicit operator bool() const { return node_data_ != nullptr; }
  SyntaxKind kind() const;
  bool is(SyntaxKind kind) const { return *this && this->kind() == kind; }
  /// The grammar's own name of this kind: "lambda", "list_comprehension".
  std::string_view grammar_name() const;
  std::string_view text() const;
  ir::Loc loc() const;
  /// Whether there is a syntax error in this node or below.
  bool has_error() const;
  bool is_missing() const;

  SyntaxNode part(SyntaxField part) const;
  /// Named children without comments.
  std::span<const SyntaxNode> children() const;
  /// All children without comments, including operators and punctuation.
  std::span<const SyntaxNode> tokens() const;
  /// The children of a node whose kind is in `lists`, else the node itself: treats `a, b` and `a` alike.
  std::span<const SyntaxNode> elements(std::initializer_list<SyntaxKind> lists) const;
  /// Identity: where in the tree this node is.
  const void* id() const { return node_data_; }

 private:
  const SyntaxNodeData* node_data_ = nullptr;  ///< data of the node in the tree; null for a null node
};

/// The syntax tree of a text.
class SyntaxTree {
 public:
  /// Parses Python. Fails when the parser gives up, a statement is too long for it, the tree is deeper than kMaxDepth,
  /// check_line_structure() fails or there is a `print` or `exec` statement of Python 2; the error's `where` is
  /// "line:column" in the text. A text with other syntax errors gives a tree in which has_error() is true at the
  /// errors. Line numbers in the tree start after `lines_before`.
  static Result<SyntaxTree> parse(std::string text, std::int32_t lines_before = 0);

  /// The maximum depth of a tree, which bounds the recursion of all functions that walk it.
  static constexpr int kMaxDepth = 400;

  SyntaxTree(SyntaxTree&&) noexcept;
  SyntaxTree& operator=(SyntaxTree&&) noexcept;
  ~SyntaxTree();

  SyntaxNode root() const;

 private:
  SyntaxTree(std::string text, std::int32_t lines_before);

  std::unique_ptr<const SourceText> source_;         ///< the text, at a fixed address because nodes refer to it
  std::vector<SyntaxNodeData> nodes_in_text_order_;  ///< all nodes, parents before children, in the order of the text
  std::vector<SyntaxNode> named_children_;           ///< named children of all nodes, in the order of the nodes
  std::vector<SyntaxNode> all_children_;             ///< all children of all nodes, in the order of the nodes
};

/// The parts of the slice start:stop:step; a part that is omitted is null.
struct SliceParts {
  SyntaxNode start, stop, step;  ///< nodes of the three parts
};

bool is_slice(SyntaxNode node);
/// Whether it is a starred argument, *x.
bool is_starred(SyntaxNode node);
SliceParts slice_parts(SyntaxNode slice);

/// The first error node at or below `node`, in the order of the text; null if there is none.
SyntaxNode first_error(SyntaxNode node);

/// A construct as shown in messages: its first line, shortened, with call arguments as "...".
std::string describe(SyntaxNode node);

}  // namespace assay::frontend
