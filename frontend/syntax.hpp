// The syntax tree of a Python file: tree-sitter's, behind types that own and name things.
//
// SyntaxTree owns the tree and keeps the text that it was made from; a Node is a small value that points into both and
// must not outlive them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tree_sitter/api.h>

#include "frontend/source_text.hpp"
#include "ir/module.hpp"
#include "ir/support/result.hpp"

namespace assay::frontend {

/// The node kinds that the reader tells apart; all others are kOther and known by their grammar name only.
enum class Syntax : std::uint8_t {
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

/// The named places of a node in the grammar that the reader asks for.
enum class Part : std::uint8_t {
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

class Node {
 public:
  Node() : node_{} {}
  Node(TSNode node, const SourceText& source) : node_(node), source_(&source) {}

  explicit operator bool() const { return node_.id != nullptr && !ts_node_is_null(node_); }
  Syntax kind() const;
  bool is(Syntax kind) const { return *this && this->kind() == kind; }
  /// The grammar's own name of this kind: "lambda", "list_comprehension".
  std::string_view grammar_name() const { return ts_node_type(node_); }
  std::string_view text() const;
  ir::Loc loc() const;
  /// Whether the parser found something wrong here or further down.
  bool has_error() const { return ts_node_has_error(node_); }
  bool is_missing() const { return ts_node_is_missing(node_); }

  Node part(Part part) const;
  /// Named children without comments.
  std::vector<Node> children() const;
  /// All children without comments, operators and punctuation too.
  std::vector<Node> tokens() const;
  /// Identity: where in the tree this node is.
  const void* id() const { return node_.id; }

 private:
  std::vector<Node> collect(bool named_only) const;

  TSNode node_;
  const SourceText* source_ = nullptr;
};

class SyntaxTree {
 public:
  /// Parses Python. Fails when the parser gives up, a statement is too long for it or the tree is deeper than kDeepest;
  /// text with syntax errors gives a tree in which has_error() is true at the wrong places.
  static Result<SyntaxTree> parse(std::string text);

  /// Levels of syntax nodes. Bounds the recursion of everything that walks the tree.
  static constexpr int kDeepest = 400;

  Node root() const { return {ts_tree_root_node(tree_.get()), *source_}; }

 private:
  struct Delete {
    void operator()(TSTree* tree) const { ts_tree_delete(tree); }
  };
  using Tree = std::unique_ptr<TSTree, Delete>;
  explicit SyntaxTree(std::string text) : source_(std::make_unique<const SourceText>(std::move(text))) {}

  std::unique_ptr<const SourceText> source_;  ///< at a fixed address, for the nodes
  Tree tree_;
};

/// The first erroneous place at or below `node`, in the order of the text; null if there is none.
Node first_error(Node node);

/// A construct as messages name it: its first line, shortened, with call arguments as "...".
std::string describe(Node node);

}  // namespace assay::frontend
