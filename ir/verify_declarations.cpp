#include <algorithm>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/text_names.hpp"
#include "ir/verify_parts.hpp"

namespace assay::ir::detail {
namespace {

bool is_side(int length) { return length >= 1 && length <= kMaxMatrixSide; }

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
    case Shape::kVector: return is_side(type.rows);
    case Shape::kMatrix: return is_side(type.rows) && is_side(type.cols) && type.components() <= kMaxMatrixComponents;
    case Shape::kQuaternion:
    case Shape::kTransform: return is_float(type.scalar);
    default: return true;
  }
}

/// Tiles cannot be the elements of an array.
bool is_good_tile(Type type) {
  if (type.tile_rank() == 0) return type.tile[1] == 0;
  return type.shape == Shape::kScalar && type.rank == 0 && type.tile_size() <= kMaxTileSize;
}

bool is_well_formed(Type type) {
  const bool container = type.rank > 0 || type.extent > 0;
  if (container && type.shape == Shape::kVoid) return false;
  if (type.rank > kMaxRank || type.extent > kMaxLocalArraySize || (type.rank > 0 && type.extent > 0)) return false;
  return static_cast<int>(type.scalar) < kScalarCount && type.shape <= Shape::kStruct && type == plain(type) &&
         has_good_components(type) && is_good_tile(type);
}

void verify_fields(const StructDef& definition, VerifierDiagnostics& diagnostics) {
  for (std::size_t i = 0; i < definition.fields.size(); ++i) {
    const Field& field = definition.fields[i];
    verify_name(field.name, {}, diagnostics);
    const auto same = [&](const Field& other) { return other.name == field.name; };
    const auto here = definition.fields.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(definition.fields.begin(), here, same)) {
      diagnostics.add(VerifierRule::kDuplicateName, {}, fmt::format("two fields are named {}", field.name));
    }
    if (!field.type.is_value() && !field.type.is_array()) {
      diagnostics.add(VerifierRule::kFieldType, {}, fmt::format("field {} must be a value or an array", field.name));
    }
  }
}

}  // namespace

void verify_name(const std::string& name, Loc loc, VerifierDiagnostics& diagnostics) {
  if (!text::is_identifier(name)) {
    diagnostics.add(VerifierRule::kNameSyntax, loc, fmt::format("name '{}' must be an ASCII identifier", name));
  }
}

bool verify_type(const Module& module, Type type, Loc loc, VerifierDiagnostics& diagnostics) {
  if (!is_well_formed(type)) {
    diagnostics.add(VerifierRule::kMalformedType, loc, "malformed type");
    return false;
  }
  if (type.shape == Shape::kStruct && type.struct_id >= module.structs.size()) {
    diagnostics.add(
        VerifierRule::kUnknownStruct, loc,
        fmt::format("struct {} does not exist: the module has {} structs", type.struct_id, module.structs.size()));
    return false;
  }
  return true;
}

void verify_structs(const Module& module, VerifierDiagnostics& diagnostics) {
  std::vector<int> depths;
  for (std::size_t i = 0; i < module.structs.size(); ++i) {
    const StructDef& definition = module.structs[i];
    diagnostics.set_subject(fmt::format("struct {}", definition.name));
    verify_name(definition.name, {}, diagnostics);
    verify_fields(definition, diagnostics);
    if (definition.fields.empty()) diagnostics.add(VerifierRule::kEmptyStruct, {}, "struct has no fields");
    int depth = 1;
    for (const Field& field : definition.fields) {
      if (!verify_type(module, field.type, {}, diagnostics) || field.type.shape != Shape::kStruct) continue;
      if (field.type.struct_id >= i) {
        diagnostics.add(VerifierRule::kUnknownStruct, {},
                        fmt::format("field {} has a struct type that is declared later", field.name));
      } else {
        depth = std::max(depth, depths[field.type.struct_id] + 1);
      }
    }
    depths.push_back(depth);
    if (depth == kMaxStructDepth + 1) {
      diagnostics.add(VerifierRule::kStructDepth, {},
                      fmt::format("structs must not be nested deeper than {}", kMaxStructDepth));
    }
  }
  diagnostics.set_subject("");
}

void verify_signature(const Module& module, const Function& function, bool is_kernel,
                      VerifierDiagnostics& diagnostics) {
  verify_name(function.name, function.loc, diagnostics);
  const auto counted = static_cast<std::int64_t>(function.parameter_count) + function.launch_rank;
  if (function.parameter_count < 0 || function.launch_rank < 0 || function.is_kernel != is_kernel ||
      counted > static_cast<std::int64_t>(function.variables.size())) {
    diagnostics.add(
        VerifierRule::kSignatureOrder, function.loc,
        fmt::format("invalid signature of a {3}: parameter count {0}, thread index count {1}, variable count {2}",
                    function.parameter_count, function.launch_rank, function.variables.size(),
                    function.is_kernel ? "kernel" : "function"));
    return;
  }
  if (!is_kernel && uses_tiles(function)) {
    diagnostics.add(VerifierRule::kTileOutsideKernel, function.loc,
                    fmt::format("tiles are not supported in functions: {} uses one", function.name));
  }
  if (is_kernel ? function.launch_rank < 1 || function.launch_rank > kMaxRank : function.launch_rank != 0) {
    diagnostics.add(VerifierRule::kLaunchRank, function.loc,
                    fmt::format("a kernel must have 1 to 4 thread indices and a function must have none, got {}",
                                function.launch_rank));
  }
  if (is_kernel && !function.results.empty()) {
    diagnostics.add(VerifierRule::kKernelReturnsValue, function.loc, "kernels cannot return values");
  }
  for (const Type type : function.results) {
    if (verify_type(module, type, function.loc, diagnostics) && !type.is_value()) {
      diagnostics.add(VerifierRule::kResultType, function.loc,
                      fmt::format("result must be a value, got {}", to_text(module, type)));
    }
  }
  for (VarId id = 0; id < static_cast<VarId>(function.variables.size()); ++id) {
    const Variable& variable = function.var(id);
    verify_name(variable.name, variable.loc, diagnostics);
    if (!verify_type(module, variable.type, variable.loc, diagnostics)) continue;
    if (function.is_parameter(id) && !variable.type.is_value() && !variable.type.is_array()) {
      diagnostics.add(VerifierRule::kParameterType, variable.loc,
                      fmt::format("parameter {} must be a value or an array, got {}", variable.name,
                                  to_text(module, variable.type)));
    }
    if (variable.is_nullable && !(function.is_parameter(id) && variable.type.is_array())) {
      diagnostics.add(VerifierRule::kNullableParameter, variable.loc,
                      fmt::format("only array parameters can be nullable: {} is not an array", variable.name));
    }
    if (function.is_thread_index(id) && variable.type != kI32) {
      diagnostics.add(
          VerifierRule::kThreadIndexType, variable.loc,
          fmt::format("thread index {} must be i32, got {}", variable.name, to_text(module, variable.type)));
    }
  }
}

}  // namespace assay::ir::detail
