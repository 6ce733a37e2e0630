// The text form of a Module: readable, complete and parseable. docs/design/language.md describes the language.
//
//     # launch: (n)
//     kernel scale(x: array<f32,1>, a: f32; i) {
//       let t: f32 = mul(x[i], a)
//       x[i] = add(t, 1.0)
//     }
//
// Not preserved: source locations, the source text, and variables without a declaration.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::ir {

/// Which names the text form uses.
enum class NamingScheme {
  kSource,     ///< names from the source, made unique; annotations are printed as comments
  kCanonical,  ///< v0, f0, k0, s0, a0 in the order of declaration, so that equal programs have equal texts
};

/// Prints any module. In an invalid module, invalid references are printed as `?`, and the text does not parse.
std::string to_text(const Module& module, NamingScheme naming = NamingScheme::kSource);

/// A type in the text form, for messages: "array<f32,2>". Structs are printed by their own name, unique or not.
std::string to_text(const Module& module, Type type);

/// Parses the text form. The result has inferred types, source locations in `text`, and variables numbered in
/// declaration order; it may be invalid, so verify it. Errors have the location `name:line:column` and report what was
/// found and what was expected. Safe for untrusted input: size and nesting are limited (ir/limits.hpp).
Result<Module> parse_text(std::string_view text, std::string_view name = "<text>");

/// SHA-256 of the canonical text, as 64 hexadecimal digits. It does not depend on names and numbering, and differs for
/// different programs.
std::string hash(const Module& module);

}  // namespace assay::ir
