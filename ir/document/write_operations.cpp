// operations-doc: prints docs/generated/operations.md.
#include <cstdio>
#include <string>

#include "ir/document/operation_document.hpp"

int main() {
  const std::string text = assay::ir::operation_document();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
