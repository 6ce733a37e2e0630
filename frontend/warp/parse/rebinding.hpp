// Names of a module that its code binds in other ways than by statements at its top level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/syntax/syntax.hpp"

namespace assay::frontend {

/// A name that a loop, a `with` statement, `:=`, `del` or a function with a `global` statement binds.
struct ReboundName {
  std::string_view name;
  SyntaxNode binding;    ///< the identifier where the name is bound
  std::string_view how;  ///< the construct that binds it: "a loop"
};

/// The names that the statements of a module bind in this way, in the order of the text. `block` is the root of a file.
std::vector<ReboundName> rebound_names(SyntaxNode block);

/// The identifiers in a target of an assignment or a loop, such as `a`, `a, b` and `(a, *b)`.
std::vector<SyntaxNode> names_in_target(SyntaxNode target);

}  // namespace assay::frontend
