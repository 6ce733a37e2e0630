// The C++ or CUDA C++ text that Warp generates for a module, split into its functions so that two texts can be
// compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::foreign {

/// A word, number, string or punctuation character. Hashes of modules, kernels and structs are removed from words:
/// `scale_be719e56_cpu_kernel_forward` becomes `scale_cpu_kernel_forward`.
struct CodeToken {
  std::string text;        ///< the token, without hashes
  std::uint32_t line = 0;  ///< line in the text, from 1
};

/// A function, a struct, a preprocessor directive, or another declaration.
struct CodeSection {
  std::string name;                  ///< name of the function or struct; empty for a directive or another declaration
  std::vector<CodeToken> tokens;     ///< all tokens, from the first line to the closing brace; comments are omitted
  std::size_t name_token_index = 0;  ///< index of the token with the name
  std::size_t body_token_index = 0;  ///< index of the opening brace; the number of tokens if there is none
  bool is_directive = false;         ///< whether it is a preprocessor directive outside of functions
};

/// A text that was split.
struct GeneratedCode {
  std::vector<CodeSection> sections;  ///< in the order of the text
  std::optional<std::uint32_t>
      unfinished_section_line;  ///< first line of the section that the end of the text truncates; empty: none
  bool has_preamble = false;    ///< whether the text includes a header: it is a complete file
};

/// Splits a text. Accepts any text; a text that is not C++ gives sections without meaning.
GeneratedCode split_code(std::string_view text);

/// Warp numbers functions in the order in which a process defines them: `square_7`. Returns the names of the functions
/// that a text defines, without their numbers.
std::set<std::string> numbered_functions(const GeneratedCode& code);

/// Numbers the functions of these names again, each name from 0 in the order in which its numbers occur in the text, so
/// that texts of different processes can be compared. Adjoint functions are renamed as well.
void renumber_functions(GeneratedCode& code, const std::set<std::string>& names);

/// A word without the hashes that Warp appends to names: eight hexadecimal digits after an underscore.
std::string without_hashes(std::string_view word);

/// A line of a text, from 1, without leading and trailing blanks; empty if the text has no such line.
std::string_view line_of(std::string_view text, std::uint32_t number);

}  // namespace assay::foreign
