#include "backends/candidate/triton/kernel_file.hpp"

#include <set>
#include <string>

#include "frontend/warp/syntax/syntax.hpp"

namespace assay::candidate {

using frontend::SyntaxField;
using frontend::SyntaxKind;
using frontend::SyntaxNode;

namespace {

class TritonKernelFinder {
 public:
  bool finds_kernel(SyntaxNode node) {
    if (node.is(SyntaxKind::kImport) || node.is(SyntaxKind::kImportFrom)) read_import(node);
    if (node.is(SyntaxKind::kDecorator) && !node.children().empty() && is_jit(node.children().front())) return true;
    for (const SyntaxNode child : node.children())
      if (finds_kernel(child)) return true;
    return false;
  }

 private:
  /// Keeps the names under which the file knows the module and its function `jit`.
  void read_import(SyntaxNode import) {
    const bool is_from = import.is(SyntaxKind::kImportFrom);
    const SyntaxNode module = import.part(SyntaxField::kModuleName);
    if (is_from && module.text() != "triton") return;
    for (const SyntaxNode part : import.children()) {
      if (part.id() == module.id()) continue;
      const bool is_aliased = part.is(SyntaxKind::kAliasedImport);
      const std::string_view imported = is_aliased ? part.part(SyntaxField::kName).text() : part.text();
      const std::string_view name = is_aliased ? part.part(SyntaxField::kAlias).text() : imported;
      if (is_from && imported == "jit") jit_names_.emplace(name);
      if (!is_from && imported == "triton") jit_names_.insert(std::string(name) + ".jit");
      // `import triton.language` makes `triton` known as well.
      if (!is_from && !is_aliased && imported.starts_with("triton.")) jit_names_.insert("triton.jit");
    }
  }

  /// Whether a decorator is `jit` or a call of it.
  [[nodiscard]] bool is_jit(SyntaxNode decorator) const {
    const SyntaxNode function = decorator.is(SyntaxKind::kCall) ? decorator.part(SyntaxField::kFunction) : decorator;
    return jit_names_.contains(std::string(function.text()));
  }

  std::set<std::string> jit_names_;
};

}  // namespace

bool defines_triton_kernel(std::string_view python) {
  const Result<frontend::SyntaxTree> tree = frontend::SyntaxTree::parse(std::string(python));
  return tree.ok() && TritonKernelFinder().finds_kernel(tree->root());
}

}  // namespace assay::candidate
