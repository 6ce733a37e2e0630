// The text form of a Module: readable, complete and parsed back. docs/design/language.md describes the language.
//
//     # launch: (n)
//     kernel scale(x: array<f32,1>, a: f32; i) {
//       let t: f32 = mul(x[i], a)
//       x[i] = add(t, 1.0)
//     }
//
// What is lost: places, the source's text, and variables that nothing declares.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::ir {

enum class Naming {
  kSource,     ///< the source's names, made unique, and the annotations as comments
  kCanonical,  ///< v0, f0, k0, s0, a0 in order of declaration: equal programs have equal text
};

/// Any module can be printed; of one that verify refuses, what cannot be named reads `?` and does not parse.
std::string to_text(const Module& module, Naming naming = Naming::kSource);

/// A type as the text form spells it, for messages: "array<f32,2>"; a struct by its own name, unique or not.
std::string to_text(const Module& module, Type type);

/// Reads what to_text writes. The result has all types inferred, places that refer to `text`, and variables
/// numbered in order of declaration; it need not be valid, so verify it. Errors carry the place
/// `name:line:column` and say what was found and what was expected. Takes hostile input: size and nesting are
/// limited (ir/limits.hpp).
Result<Module> parse_text(std::string_view text, std::string_view name = "<text>");

}  // namespace assay::ir
