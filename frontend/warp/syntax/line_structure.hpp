// The rules of Python's tokenizer for indentation, brackets and strings, which the grammar does not enforce.
//
// tree-sitter recovers silently from such errors: it attaches a statement with a wrong indentation to another block,
// and closes a bracket where it sees fit. The tree would then have another meaning than the author's, or a meaning
// where Python has none.
#pragma once

#include <string_view>

#include "support/result.hpp"

namespace assay::frontend {

/// Fails if Python rejects the text because of its indentation, a bracket or string that is not closed, a closing
/// bracket without its opening one, or a backslash inside a line. Accepts all that some version of Python 3 accepts.
/// The error's `where` is "line:column".
Result<void> check_line_structure(std::string_view text);

}  // namespace assay::frontend
