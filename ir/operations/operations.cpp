#include "ir/operations/operations.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace assay::ir {
namespace {

bool is_numeric_scalar(Type type) { return type.is_scalar() && type.scalar != Scalar::kBool; }
bool is_linear(Type type) { return is_numeric_scalar(type) || type.is_aggregate(); }
bool is_float_vector(Type type) { return type.is_vector() && is_float(type.scalar); }
bool is_square(Type type) { return type.is_matrix() && type.rows == type.cols; }
bool is_signed_component(Type type) { return row(type.scalar).is_signed; }

bool all_same(std::span<const Type> types) {
  return std::all_of(types.begin(), types.end(), [&](Type type) { return type == types[0]; });
}

/// The product of a matrix with a matrix, a column vector or, on the left, a row vector.
Type matrix_product(Type a, Type b) {
  if (a.scalar != b.scalar) return kVoid;
  if (a.is_matrix() && b.is_matrix()) return a.cols == b.rows ? matrix_type(a.scalar, a.rows, b.cols) : kVoid;
  if (a.is_matrix() && b.is_vector()) return a.cols == b.rows ? vector_type(a.scalar, a.rows) : kVoid;
  if (a.is_vector() && b.is_matrix()) return a.rows == b.rows ? vector_type(a.scalar, b.cols) : kVoid;
  return kVoid;
}

/// Whether the operands have as many components together as the requested aggregate.
bool fills(std::span<const Type> parts, Type wanted) {
  int components = 0;
  for (const Type part : parts) {
    if ((!part.is_scalar() && !part.is_aggregate()) || part.scalar != wanted.scalar) return false;
    components += part.components();
  }
  return wanted.is_aggregate() && components == wanted.components();
}

bool is_numeric_tile(Type type) { return type.is_tile() && type.scalar != Scalar::kBool; }

/// Extents of a tile aligned at the last dimension; 1 for missing dimensions.
int extent_from_last(Type tile, int k) {
  const int at = tile.tile_rank() - 1 - k;
  return at < 0 ? 1 : tile.tile[static_cast<std::size_t>(at)];
}

bool broadcasts(Type from, Type to) {
  if (!from.is_tile() || !to.is_tile() || from.tile_element_type() != to.tile_element_type()) return false;
  for (int k = 0; k < 2; ++k) {
    const int extent = extent_from_last(from, k);
    if (extent != 1 && extent != extent_from_last(to, k)) return false;
  }
  return from.tile_rank() <= to.tile_rank();
}

Type tile_product(Type a, Type b) {
  const bool fits = is_numeric_tile(a) && is_numeric_tile(b) && a.scalar == b.scalar && a.tile_rank() == 2 &&
                    b.tile_rank() == 2 && a.tile[1] == b.tile[0];
  return fits ? tile_type(a.scalar, a.tile[0], b.tile[1]) : kVoid;
}

/// The element type if the operands are one i32 index for each dimension of the tile, otherwise void.
Type tile_element_at(std::span<const Type> operands) {
  const Type tile = operands[0];
  if (!tile.is_tile() || operands.size() != static_cast<std::size_t>(tile.tile_rank()) + 1) return kVoid;
  const bool integers = std::ranges::all_of(operands.subspan(1), [](Type index) { return index == kI32; });
  return integers ? tile.tile_element_type() : kVoid;
}

/// Whether `part` has the element type and number of dimensions of `whole`, and no greater extent.
bool fits_into(Type part, Type whole) {
  const bool alike = part.is_tile() && whole.is_tile() && part.tile_element_type() == whole.tile_element_type() &&
                     part.tile_rank() == whole.tile_rank();
  return alike && part.tile[0] <= whole.tile[0] && part.tile[1] <= whole.tile[1];
}

bool are_tile_offsets(Type tile, std::span<const Type> offsets) {
  return offsets.size() == static_cast<std::size_t>(tile.tile_rank()) &&
         std::ranges::all_of(offsets, [](Type type) { return type == kI32; });
}

Type tile_arange(std::span<const Type> t, Type requested) {
  const bool fits = requested.is_tile() && requested.tile_rank() == 1 && is_numeric_scalar(t[0]) && t[0] == t[1] &&
                    t[0] == requested.tile_element_type();
  return fits ? requested : kVoid;
}

Type tile_view(std::span<const Type> t, Type requested) {
  return fits_into(requested, t[0]) && are_tile_offsets(t[0], t.subspan(1)) ? requested : kVoid;
}

Type tile_assign(std::span<const Type> t) {
  const bool fits = t.size() >= 2 && fits_into(t.back(), t[0]) && are_tile_offsets(t[0], t.subspan(1, t.size() - 2));
  return fits ? t[0] : kVoid;
}

Type tile_diag_add(Type square, Type diagonal) {
  const bool fits = is_numeric_tile(square) && square.tile[0] == square.tile[1] && diagonal.is_tile() &&
                    diagonal == tile_type(square.scalar, square.tile[0]);
  return fits ? square : kVoid;
}

Type tile_insert(std::span<const Type> t) {
  const Type element = t.size() < 2 ? kVoid : tile_element_at(t.first(t.size() - 1));
  return !element.is_void() && t.back() == element ? t[0] : kVoid;
}

/// Whether the operation takes vectors and matrices of bool: these can only be made, chosen and taken apart.
bool takes_bool_aggregates(TypeRule rule) {
  return rule == TypeRule::kMake || rule == TypeRule::kSplat || rule == TypeRule::kExtract ||
         rule == TypeRule::kInsert || rule == TypeRule::kSelect || rule == TypeRule::kWithField;
}
bool is_bool_aggregate(Type type) { return type.is_aggregate() && type.scalar == Scalar::kBool; }

/// Whether one type is an integer of 32 or 64 bits and the other one a float that is at least as wide.
bool is_reinterpretation(Type from, Type to) {
  const bool makes_float = from.is_integer_scalar();
  const Type integer = makes_float ? from : to;
  const Type real = makes_float ? to : from;
  return integer.is_integer_scalar() && real.is_float_scalar() && row(integer.scalar).bytes >= 4 &&
         row(real.scalar).bytes >= row(integer.scalar).bytes;
}

/// Applies a rule: the result type, or void if the operands do not match.
Type apply(TypeRule rule, std::span<const Type> t, Type requested) {
  switch (rule) {
    case TypeRule::kAddition: return is_linear(t[0]) && t[0] == t[1] ? t[0] : kVoid;
    case TypeRule::kProduct:
      if (is_numeric_scalar(t[0]) && t[0] == t[1]) return t[0];
      if (t[0].is_aggregate() && t[1] == t[0].component()) return t[0];
      if (t[1].is_aggregate() && t[0] == t[1].component()) return t[1];
      if (t[0].is_quaternion() && t[0] == t[1]) return t[0];
      return matrix_product(t[0], t[1]);
    case TypeRule::kQuotient:
      if (is_numeric_scalar(t[0]) && t[0] == t[1]) return t[0];
      return t[0].is_aggregate() && t[1] == t[0].component() ? t[0] : kVoid;
    case TypeRule::kNegation: return is_linear(t[0]) && is_signed_component(t[0]) ? t[0] : kVoid;
    case TypeRule::kNumericScalars: return is_numeric_scalar(t[0]) && all_same(t) ? t[0] : kVoid;
    case TypeRule::kFloatScalars: return t[0].is_float_scalar() && all_same(t) ? t[0] : kVoid;
    case TypeRule::kFloatTest: return t[0].is_float_scalar() ? kBool : kVoid;
    case TypeRule::kOrderedComparison: return is_numeric_scalar(t[0]) && all_same(t) ? kBool : kVoid;
    case TypeRule::kEquality: return t[0].is_scalar() && all_same(t) ? kBool : kVoid;
    case TypeRule::kLogic: return t[0].is_bool() && all_same(t) ? kBool : kVoid;
    case TypeRule::kSelect: return t[0].is_bool() && t[1].is_value() && t[1] == t[2] ? t[1] : kVoid;
    case TypeRule::kIntegerScalars: return t[0].is_integer_scalar() && all_same(t) ? t[0] : kVoid;
    case TypeRule::kConversion: return t[0].is_scalar() && requested.is_scalar() ? requested : kVoid;
    case TypeRule::kReinterpretation: return is_reinterpretation(t[0], requested) ? requested : kVoid;
    case TypeRule::kMake: return fills(t, requested) ? requested : kVoid;
    case TypeRule::kSplat:
      return (requested.is_aggregate() || requested.is_tile()) && t[0] == requested.component() ? requested : kVoid;
    case TypeRule::kExtract: return t[0].is_aggregate() && t[1] == kI32 ? t[0].indexed_part_type() : kVoid;
    case TypeRule::kInsert:
      return t[0].is_aggregate() && t[1] == kI32 && t[2] == t[0].indexed_part_type() ? t[0] : kVoid;
    case TypeRule::kVectorsOrMatrices: return (t[0].is_vector() || t[0].is_matrix()) && t[0] == t[1] ? t[0] : kVoid;
    case TypeRule::kDot: return t[0].is_aggregate() && !t[0].is_matrix() && t[0] == t[1] ? t[0].component() : kVoid;
    case TypeRule::kDoubleDot: return t[0].is_matrix() && t[0] == t[1] ? t[0].component() : kVoid;
    case TypeRule::kCross: return t[0].is_vector() && t[0].rows == 3 && t[0] == t[1] ? t[0] : kVoid;
    case TypeRule::kLength: return is_float_vector(t[0]) || t[0].is_quaternion() ? t[0].component() : kVoid;
    case TypeRule::kLengthSquared: return t[0].is_vector() || t[0].is_quaternion() ? t[0].component() : kVoid;
    case TypeRule::kNormalize: return is_float_vector(t[0]) ? t[0] : kVoid;
    case TypeRule::kTranspose: return t[0].is_matrix() ? matrix_type(t[0].scalar, t[0].cols, t[0].rows) : kVoid;
    case TypeRule::kOuter:
      return t[0].is_vector() && t[1].is_vector() && t[0].scalar == t[1].scalar
                 ? matrix_type(t[0].scalar, t[0].rows, t[1].rows)
                 : kVoid;
    case TypeRule::kInverse:
      return is_square(t[0]) && is_float(t[0].scalar) && t[0].rows >= 2 && t[0].rows <= 4 ? t[0] : kVoid;
    case TypeRule::kQuaternion: return t[0].is_quaternion() ? t[0] : kVoid;
    case TypeRule::kTranslation: return t[0].is_transform() ? vector_type(t[0].scalar, 3) : kVoid;
    case TypeRule::kRotation: return t[0].is_transform() ? quaternion_type(t[0].scalar) : kVoid;
    case TypeRule::kSpatialVectorHalf:
      return is_float_vector(t[0]) && t[0].rows == 6 ? vector_type(t[0].scalar, 3) : kVoid;
    case TypeRule::kWithField: return t[0].is_struct() && t[0] == requested ? t[0] : kVoid;
    case TypeRule::kTileProduct: return tile_product(t[0], t[1]);
    case TypeRule::kTileSum: return is_numeric_tile(t[0]) && broadcasts(requested, t[0]) ? requested : kVoid;
    case TypeRule::kTileBroadcast: return broadcasts(t[0], requested) ? requested : kVoid;
    case TypeRule::kTileReshape: {
      const bool fits = t[0].is_tile() && requested.is_tile() &&
                        t[0].tile_element_type() == requested.tile_element_type() &&
                        t[0].tile_size() == requested.tile_size();
      return fits ? requested : kVoid;
    }
    case TypeRule::kTileTranspose:
      return t[0].is_tile() && t[0].tile_rank() == 2 ? tile_type(t[0].scalar, t[0].tile[1], t[0].tile[0]) : kVoid;
    case TypeRule::kTileMinMax: return is_numeric_tile(t[0]) ? tile_type(t[0].scalar, 1) : kVoid;
    case TypeRule::kTileArgMinMax: return is_numeric_tile(t[0]) ? tile_type(Scalar::kI32, 1) : kVoid;
    case TypeRule::kTileScan: return is_numeric_tile(t[0]) && t[0].tile_rank() == 1 ? t[0] : kVoid;
    case TypeRule::kTileExtract: return tile_element_at(t);
    case TypeRule::kTileInsert: return tile_insert(t);
    case TypeRule::kTileArange: return tile_arange(t, requested);
    case TypeRule::kTileView: return tile_view(t, requested);
    case TypeRule::kTileAssign: return tile_assign(t);
    case TypeRule::kTileDiagAdd: return tile_diag_add(t[0], t[1]);
    case TypeRule::kTileRuns: return is_numeric_tile(t[0]) && t[0].tile_rank() == 1 && t[0] == t[1] ? t[0] : kVoid;
  }
  return kVoid;
}

/// Applies a rule for scalars to the elements of tiles.
Type apply_to_elements(TypeRule rule, std::span<const Type> operands, Type requested) {
  Type tile = kVoid;
  std::vector<Type> elements;
  for (const Type operand : operands) {
    if (operand.is_tile() && tile.is_tile() && operand.tile != tile.tile) return kVoid;
    if (operand.is_tile()) tile = operand;
    elements.push_back(operand.tile_element_type());
  }
  const Type element = apply(rule, elements, requested.tile_element_type());
  return element.is_scalar() ? element.with_tile_extents_of(tile) : kVoid;
}

std::string_view expectation(TypeRule rule) {
  switch (rule) {
    case TypeRule::kAddition: return "two numeric values of the same type";
    case TypeRule::kProduct:
      return "two numeric scalars of the same type, a vector or matrix and a scalar of its component type, or matrices "
             "and vectors of matching sizes";
    case TypeRule::kQuotient:
      return "two numeric scalars of the same type, or a vector or matrix and a scalar of its component type";
    case TypeRule::kNegation: return "a signed numeric value";
    case TypeRule::kNumericScalars: return "numeric scalars of the same type";
    case TypeRule::kFloatScalars: return "float scalars of the same type";
    case TypeRule::kFloatTest: return "a float scalar";
    case TypeRule::kOrderedComparison: return "two numeric scalars of the same type";
    case TypeRule::kEquality: return "two scalars of the same type";
    case TypeRule::kLogic: return "bool operands";
    case TypeRule::kSelect: return "a bool and two values of the same type";
    case TypeRule::kIntegerScalars: return "integer scalars of the same type";
    case TypeRule::kConversion: return "a scalar and a scalar type to convert it to";
    case TypeRule::kReinterpretation:
      return "an integer of 32 or 64 bits and a float type that is at least as wide, or such a float and the integer "
             "type";
    case TypeRule::kMake:
      return "one scalar for each component of the requested type, or vectors that together have as many components";
    case TypeRule::kSplat: return "one scalar of the component type";
    case TypeRule::kExtract: return "a vector, matrix, quaternion or transform and an i32 index";
    case TypeRule::kInsert: return "a vector, matrix, quaternion or transform, an i32 index and a component or row";
    case TypeRule::kVectorsOrMatrices: return "two vectors or matrices of the same type";
    case TypeRule::kDot: return "two vectors, quaternions or transforms of the same type";
    case TypeRule::kDoubleDot: return "two matrices of the same type";
    case TypeRule::kCross: return "two vectors of length 3 and of the same type";
    case TypeRule::kLength: return "a float vector or a quaternion";
    case TypeRule::kLengthSquared: return "a vector or a quaternion";
    case TypeRule::kNormalize: return "a float vector";
    case TypeRule::kTranspose: return "a matrix";
    case TypeRule::kOuter: return "two vectors with the same scalar type";
    case TypeRule::kInverse: return "a float matrix of 2 x 2, 3 x 3 or 4 x 4 components";
    case TypeRule::kQuaternion: return "a quaternion";
    case TypeRule::kTranslation:
    case TypeRule::kRotation: return "a transform";
    case TypeRule::kSpatialVectorHalf: return "a float vector of length 6";
    case TypeRule::kWithField: return "a struct and a value of its field's type";
    case TypeRule::kTileProduct: return "two numeric tiles of the same type with r x k and k x c elements";
    case TypeRule::kTileSum: return "a numeric tile and a shape that broadcasts to the shape of the tile";
    case TypeRule::kTileBroadcast: return "a tile that broadcasts to the requested shape";
    case TypeRule::kTileReshape: return "a tile with as many elements as the requested shape";
    case TypeRule::kTileTranspose: return "a tile of two dimensions";
    case TypeRule::kTileMinMax:
    case TypeRule::kTileArgMinMax: return "a numeric tile";
    case TypeRule::kTileScan: return "a numeric tile of one dimension";
    case TypeRule::kTileExtract: return "a tile and an i32 index for each dimension";
    case TypeRule::kTileInsert: return "a tile, an i32 index for each dimension and an element";
    case TypeRule::kTileArange: return "two numeric scalars of the element type of a tile of one dimension";
    case TypeRule::kTileView: return "a tile into which the requested tile fits and an i32 offset for each dimension";
    case TypeRule::kTileAssign: return "a tile, an i32 offset for each dimension and a tile that fits into it";
    case TypeRule::kTileDiagAdd: return "a square numeric tile and a tile of its element type for the diagonal";
    case TypeRule::kTileRuns: return "two numeric tiles of one dimension and of the same type";
  }
  return "";
}

}  // namespace

Result<Type> result_type(Op op, std::span<const Type> operands, Type requested) {
  const OperationEntry& operation = row(op);
  if (operation.arity >= 0 && operands.size() != static_cast<std::size_t>(operation.arity)) {
    return Error{
        fmt::format("operation {} takes {} operands, got {}", operation.mnemonic, operation.arity, operands.size())};
  }
  if (operands.empty())
    return Error{fmt::format("operation {} takes at least one operand, got none", operation.mnemonic)};
  const bool on_tiles = std::ranges::any_of(operands, &Type::is_tile);
  const Type type = on_tiles && is_elementwise(op) && op != Op::kConditional
                        ? apply_to_elements(operation.rule, operands, requested)
                        : apply(operation.rule, operands, requested);
  const bool fits = takes_bool_aggregates(operation.rule) || std::ranges::none_of(operands, is_bool_aggregate);
  if (type.is_void() || !fits) {
    return Error{fmt::format("{} takes {}", operation.mnemonic, expectation(operation.rule))};
  }
  return type;
}

}  // namespace assay::ir
