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

/// The node kinds that the parser distinguishes; all others are kOther and have only a grammar name.
enum class SyntaxKind : std::uint8_t {
  kOther,
  kError,
  kModule,
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
  kAliasedImport,
  kDottedName,
  kDecoratedDefinition,
  kDecorator,
  kFunctionDefinition,
  kClassDefinition,
  kParameters,
  kTypedParameter,
  kTypedDefaultParameter,
  kType,
  kBlock,
  kExpressionStatement,
  kAssignment,
  kAugmentedAssignment,
  kPatternList,
  kTuplePattern,
  kExpressionList,
  kTuple,
  kIf,
  kElif,
  kElse,
  kFor,
  kWhile,
  kBreak,
  kContinue,
  kReturn,
  kPass,
  kParenthesized,
  kBinary,
  kUnary,
  kNot,
  kBoolean,
  kComparison,
  kConditional,
  kAttribute,
  kSubscript,
  kCall,
  kArgumentList,
  kKeywordArgument,
};

/// The named fields of a node in the grammar that the parser uses.
enum class SyntaxField : std::uint8_t {
  kAlias,
  kAlternative,
  kArgument,
  kArguments,
  kAttribute,
  kBody,
  kCondition,
  kConsequence,
  kDefinition,
  kFunction,
  kLeft,
  kModuleName,
  kName,
  kObject,
  kOperator,
  kParameters,
  kReturnType,
  kRight,
  kSuperclasses,
  kType,
  kValue,
};

struct SyntaxNodeData;

/// A node of a tree, or null. A null node has no text and no children, and its kind is kOther.
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
  const SyntaxNodeData* node_data_ = nullptr;  ///< entry of the node in the tree; null for a null node
};

class SyntaxTree {
 public:
  /// Parses Python. Fails when the parser gives up, a statement is too long for it or the tree is deeper than
  /// kMaxDepth; text with syntax errors gives a tree in which has_error() is true at the errors. Line numbers start
  /// after `lines_before`.
  static Result<SyntaxTree> parse(std::string text, std::int32_t lines_before = 0);

  /// The maximum nesting of syntax nodes. Bounds the recursion of all tree walks.
  static constexpr int kMaxDepth = 400;

  SyntaxTree(SyntaxTree&&) noexcept;
  SyntaxTree& operator=(SyntaxTree&&) noexcept;
  ~SyntaxTree();

  SyntaxNode root() const;

 private:
  SyntaxTree(std::string text, std::int32_t lines_before);

  std::unique_ptr<const SourceText> source_;         ///< the text, at a fixed address because nodes refer to it
  std::vector<SyntaxNodeData> nodes_in_text_order_;  ///< all nodes, parents before children, in the order of the text
  std::vector<SyntaxNode> named_children_;  ///< named children of each entry, in the order of nodes_in_text_order_
  std::vector<SyntaxNode> all_children_;    ///< all children of each entry, in the order of nodes_in_text_order_
};

/// The parts of start:stop:step, null if omitted.
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
