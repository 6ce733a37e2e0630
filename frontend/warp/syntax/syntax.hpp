// The syntax tree of a Python file: what tree-sitter found, in a form of our own.
//
// tree-sitter's tree is made to be edited, and asking it for a node's children or their names takes a walk each time; a
// reader asks often. So the tree is copied once into a flat list. SyntaxTree owns the list and the text that it was
// made from; a Node is a pointer into it and must not outlive it.
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

struct SyntaxEntry;

/// A place in a tree, or none. What none is asked is answered with nothing: no text, no children, kOther.
class Node {
 public:
  Node() = default;
  explicit Node(const SyntaxEntry& entry) : entry_(&entry) {}

  explicit operator bool() const { return entry_ != nullptr; }
  Syntax kind() const;
  bool is(Syntax kind) const { return *this && this->kind() == kind; }
  /// The grammar's own name of this kind: "lambda", "list_comprehension".
  std::string_view grammar_name() const;
  std::string_view text() const;
  ir::Loc loc() const;
  /// Whether the parser found something wrong here or further down.
  bool has_error() const;
  bool is_missing() const;

  Node part(Part part) const;
  /// Named children without comments.
  std::span<const Node> children() const;
  /// All children without comments, operators and punctuation too.
  std::span<const Node> tokens() const;
  /// The children of a node of one of the kinds `lists`; any other node by itself: what `a, b` and `a` hold alike.
  std::span<const Node> elements(std::initializer_list<Syntax> lists) const;
  /// Identity: where in the tree this node is.
  const void* id() const { return entry_; }

 private:
  const SyntaxEntry* entry_ = nullptr;
};

class SyntaxTree {
 public:
  /// Parses Python. Fails when the parser gives up, a statement is too long for it or the tree is deeper than kDeepest;
  /// text with syntax errors gives a tree in which has_error() is true at the wrong places.
  /// Places count on from `lines_before`.
  static Result<SyntaxTree> parse(std::string text, std::int32_t lines_before = 0);

  /// Levels of syntax nodes. Bounds the recursion of everything that walks the tree.
  static constexpr int kDeepest = 400;

  SyntaxTree(SyntaxTree&&) noexcept;
  SyntaxTree& operator=(SyntaxTree&&) noexcept;
  ~SyntaxTree();

  Node root() const;

 private:
  SyntaxTree(std::string text, std::int32_t lines_before);

  std::unique_ptr<const SourceText> source_;  ///< at a fixed address, for the nodes
  std::vector<SyntaxEntry> entries_;          ///< parents before children, in the order of the text
  std::vector<Node> named_;                   ///< the named children of the first entry, of the second, ...
  std::vector<Node> tokens_;                  ///< likewise all children
};

/// The first erroneous place at or below `node`, in the order of the text; null if there is none.
Node first_error(Node node);

/// A construct as messages name it: its first line, shortened, with call arguments as "...".
std::string describe(Node node);

}  // namespace assay::frontend
