// The declarations of a text parsed so far, and the parsers of types and functions, which need them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "ir/module.hpp"
#include "ir/text_cursor.hpp"

namespace assay::ir::text {

/// Maps names, which are parts of the text, to indices.
using IndexByName = std::unordered_map<std::string_view, std::int32_t>;

/// The declarations of a text that have been parsed so far.
struct ParsedDeclarations {
  Module module;          ///< declarations parsed so far
  IndexByName structs;    ///< index in Module::structs, by name
  IndexByName functions;  ///< index in Module::functions, by name
  IndexByName kernels;    ///< index in Module::kernels, by name
};

/// Parses a type; void after a failure.
Type parse_type(Cursor& cursor, const ParsedDeclarations& scope);
/// Parses the name of a scalar type.
Scalar parse_scalar(Cursor& cursor);

/// Parses a new name. It must not be in `taken_names`, and `reserved` must return false for it.
std::string_view parse_new_name(Cursor& cursor, const IndexByName& taken_names, std::string_view what,
                                bool (*reserved)(std::string_view));

/// Parses a function or kernel after the keyword "func" or "kernel" and adds it to the module of the scope.
void parse_function(Cursor& cursor, ParsedDeclarations& scope, bool is_kernel);

}  // namespace assay::ir::text
