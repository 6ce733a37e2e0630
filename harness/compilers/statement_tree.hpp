// CUDA C++ as a tree of statements and blocks, which a reducer can change and print. Understands the text that Assay
// emits: no preprocessor, no braces in expressions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::compilers {

/// A statement, or a block with its head: "if (v > 0.0f)", "else", a function's declaration.
struct CudaStatement {
  std::string text;                      ///< a statement without its semicolon, or the head of a block
  bool is_block = false;                 ///< whether it has braces
  std::vector<CudaStatement> body = {};  ///< content of the block
  friend bool operator==(const CudaStatement&, const CudaStatement&) = default;
};

/// Parses a text; comments and lines of the preprocessor are dropped.
std::vector<CudaStatement> parse_statements(std::string_view text);

/// Prints in the usual style: one statement on each line, "} else {", a block of one statement on the line of its head.
std::string to_text(const std::vector<CudaStatement>& statements);

/// Number of statements and blocks.
std::size_t count_of(const std::vector<CudaStatement>& statements);

/// Lines that are not empty.
std::size_t line_count(std::string_view text);

}  // namespace assay::compilers
