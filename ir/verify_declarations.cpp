#include <algorithm>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/text_names.hpp"
#include "ir/verify_parts.hpp"

namespace assay::ir::detail {
namespace {

bool is_side(int length) { return length >= 1 && length <= kMaxVectorLength; }

/// The same shape with no other member set.
Type plain(Type type) {
  Type result{.shape = type.shape, .rank = type.rank, .extent = type.extent, .tile = type.tile};
  if (type.shape == Shape::kStruct) {
    result.struct_id = type.struct_id;
  } else if (type.shape != Shape::kVoid) {
    result.scalar = type.scalar;
  }
  if (type.shape == Shape::kVector || type.shape == Shape::kMatrix) result.rows = type.rows;
  if (type.shape == Shape::kMatrix) result.cols = type.cols;
  return result;
}

bool has_good_components(Type type) {
  switch (type.shape) {
    case Shape::kVector: return is_side(type.rows) && type.scalar != Scalar::kBool;
    case Shape::kMatrix: return is_side(type.rows) && is_side(type.cols) && type.scalar != Scalar::kBool;
    case Shape::kQuaternion:
    case Shape::kTransform: return is_float(type.scalar);
    default: return true;
  }
}

/// No array in memory consists of tiles.
bool is_good_tile(Type type) {
  if (type.tile_rank() == 0) return type.tile[1] == 0;
  return type.shape == Shape::kScalar && type.rank == 0 && type.tile_size() <= kMaxTileSize;
}

bool is_well_formed(Type type) {
  const bool container = type.rank > 0 || type.extent > 0;
  if (container && type.shape == Shape::kVoid) return false;
  if (type.rank > kMaxRank || type.extent > kMaxLocalExtent || (type.rank > 0 && type.extent > 0)) return false;
  return static_cast<int>(type.scalar) < kScalarCount && type.shape <= Shape::kStruct && type == plain(type) &&
         has_good_components(type) && is_good_tile(type);
}

void verify_fields(const StructDef& definition, Complaints& diagnostics) {
  for (std::size_t i = 0; i < definition.fields.size(); ++i) {
    const Field& field = definition.fields[i];
    verify_name(field.name, {}, diagnostics);
    const auto same = [&](const Field& other) { return other.name == field.name; };
    const auto here = definition.fields.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(definition.fields.begin(), here, same)) {
      diagnostics.add(Rule::kDuplicateName, {}, fmt::format("two fields are named {}", field.name));
    }
    if (!field.type.is_value() && !field.type.is_array()) {
      diagnostics.add(Rule::kFieldType, {}, fmt::format("field {} is neither a value nor an array", field.name));
    }
  }
}

}  // namespace

void verify_name(const std::string& name, Loc loc, Complaints& diagnostics) {
  if (!text::is_identifier(name)) {
    diagnostics.add(Rule::kName, loc, fmt::format("found the name '{}', expected letters, digits and _", name));
  }
}

bool verify_type(const Module& module, Type type, Loc loc, Complaints& diagnostics) {
  if (!is_well_formed(type)) {
    diagnostics.add(Rule::kMalformedType, loc, "found a type that is not well formed");
    return false;
  }
  if (type.shape == Shape::kStruct && type.struct_id >= module.structs.size()) {
    diagnostics.add(Rule::kUnknownStruct, loc,
                    fmt::format("found struct {} of {}", type.struct_id, module.structs.size()));
    return false;
  }
  return true;
}

void verify_structs(const Module& module, Complaints& diagnostics) {
  std::vector<int> depths;
  for (std::size_t i = 0; i < module.structs.size(); ++i) {
    const StructDef& definition = module.structs[i];
    diagnostics.about(fmt::format("struct {}", definition.name));
    verify_name(definition.name, {}, diagnostics);
    verify_fields(definition, diagnostics);
    if (definition.fields.empty()) diagnostics.add(Rule::kEmptyStruct, {}, "found no field");
    int depth = 1;
    for (const Field& field : definition.fields) {
      if (!verify_type(module, field.type, {}, diagnostics) || field.type.shape != Shape::kStruct) continue;
      if (field.type.struct_id >= i) {
        diagnostics.add(Rule::kUnknownStruct, {}, fmt::format("field {} is of a struct that comes later", field.name));
      } else {
        depth = std::max(depth, depths[field.type.struct_id] + 1);
      }
    }
    depths.push_back(depth);
    if (depth == kMaxStructDepth + 1) {
      diagnostics.add(Rule::kStructDepth, {}, fmt::format("structs nest deeper than {}", kMaxStructDepth));
    }
  }
  diagnostics.about("");
}

void verify_signature(const Module& module, const Function& function, bool is_kernel, Complaints& diagnostics) {
  verify_name(function.name, function.loc, diagnostics);
  const auto counted = static_cast<std::int64_t>(function.parameter_count) + function.launch_rank;
  if (function.parameter_count < 0 || function.launch_rank < 0 || function.is_kernel != is_kernel ||
      counted > static_cast<std::int64_t>(function.variables.size())) {
    diagnostics.add(
        Rule::kSignature, function.loc,
        fmt::format("found {} parameters and {} thread indices among {} variables of a {}", function.parameter_count,
                    function.launch_rank, function.variables.size(), function.is_kernel ? "kernel" : "function"));
    return;
  }
  if (!is_kernel && uses_tiles(function)) {
    diagnostics.add(Rule::kTile, function.loc, fmt::format("found a tile in function {}", function.name));
  }
  if (is_kernel ? function.launch_rank < 1 || function.launch_rank > kMaxRank : function.launch_rank != 0) {
    diagnostics.add(Rule::kLaunchRank, function.loc, fmt::format("found {} thread indices", function.launch_rank));
  }
  if (is_kernel && !function.results.empty()) {
    diagnostics.add(Rule::kKernelResults, function.loc, "found a kernel with results");
  }
  for (const Type type : function.results) {
    if (verify_type(module, type, function.loc, diagnostics) && !type.is_value()) {
      diagnostics.add(Rule::kResultType, function.loc, fmt::format("found a result of type {}", to_text(module, type)));
    }
  }
  for (VarId id = 0; id < static_cast<VarId>(function.variables.size()); ++id) {
    const Variable& variable = function.var(id);
    verify_name(variable.name, variable.loc, diagnostics);
    if (!verify_type(module, variable.type, variable.loc, diagnostics)) continue;
    if (function.is_parameter(id) && !variable.type.is_value() && !variable.type.is_array()) {
      diagnostics.add(Rule::kParameterType, variable.loc,
                      fmt::format("parameter {} has type {}", variable.name, to_text(module, variable.type)));
    }
    if (variable.nullable && !(function.is_parameter(id) && variable.type.is_array())) {
      diagnostics.add(Rule::kNullable, variable.loc,
                      fmt::format("{} is nullable and no array parameter", variable.name));
    }
    if (function.is_thread_index(id) && variable.type != kI32) {
      diagnostics.add(Rule::kThreadIndexType, variable.loc,
                      fmt::format("thread index {} has type {}", variable.name, to_text(module, variable.type)));
    }
  }
}

}  // namespace assay::ir::detail
