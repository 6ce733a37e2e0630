// What a text has declared so far, and the reading of types, which needs it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "ir/module.hpp"
#include "ir/text_cursor.hpp"

namespace assay::ir::text {

/// Names map to indices; they are parts of the text.
using Names = std::unordered_map<std::string_view, std::int32_t>;

struct Scope {
  Module module;
  Names structs;
  Names functions;
  Names kernels;
};

/// Reads a type; void after a failure.
Type parse_type(Cursor& cursor, const Scope& scope);
/// Reads the name of a scalar type.
Scalar parse_scalar(Cursor& cursor);

/// Reads a name that is not among `taken`. `reserved` says which words it cannot be.
std::string_view parse_new_name(Cursor& cursor, const Names& taken, std::string_view what,
                                bool (*reserved)(std::string_view));

}  // namespace assay::ir::text
