// The types of the kernel language: scalars, small linear-algebra values, structs and arrays of them.
//
// A Type is a small value, compared member by member. Struct types refer to a StructDef of their Module by
// index.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::ir {

enum class Scalar : std::uint8_t { kBool, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64 };
inline constexpr int kScalarCount = 13;  ///< number of scalar types

/// The properties of one scalar type; a row of kScalars.
struct ScalarTypeProperties {
  Scalar scalar;               ///< the scalar type
  std::string_view name;       ///< spelling in the text form: "f32"
  std::string_view warp_name;  ///< spelling after `wp.`, or the Python builtin: "float32"
  int bytes;                   ///< size in memory in bytes; 1 for bool
  bool is_float;               ///< whether it is a floating-point type
  bool is_signed;              ///< whether it is a signed integer or float; bool is unsigned
  /// For a float: number of bits of the significand, with the hidden bit; for an integer: number of bits without the
  /// sign.
  int significant_bits;
};

inline constexpr ScalarTypeProperties kScalars[kScalarCount] = {
    {Scalar::kBool, "bool", "bool", 1, false, false, 1},   {Scalar::kI8, "i8", "int8", 1, false, true, 7},
    {Scalar::kI16, "i16", "int16", 2, false, true, 15},    {Scalar::kI32, "i32", "int32", 4, false, true, 31},
    {Scalar::kI64, "i64", "int64", 8, false, true, 63},    {Scalar::kU8, "u8", "uint8", 1, false, false, 8},
    {Scalar::kU16, "u16", "uint16", 2, false, false, 16},  {Scalar::kU32, "u32", "uint32", 4, false, false, 32},
    {Scalar::kU64, "u64", "uint64", 8, false, false, 64},  {Scalar::kF16, "f16", "float16", 2, true, true, 11},
    {Scalar::kBF16, "bf16", "bfloat16", 2, true, true, 8}, {Scalar::kF32, "f32", "float32", 4, true, true, 24},
    {Scalar::kF64, "f64", "float64", 8, true, true, 53},
};

constexpr const ScalarTypeProperties& row(Scalar scalar) { return kScalars[static_cast<int>(scalar)]; }
constexpr bool is_float(Scalar scalar) { return row(scalar).is_float; }
constexpr bool is_integer(Scalar scalar) { return !row(scalar).is_float && scalar != Scalar::kBool; }

enum class Shape : std::uint8_t { kVoid, kScalar, kVector, kMatrix, kQuaternion, kTransform, kStruct };

/// A value type, or an array of values.
///
/// rank 0, extent 0: a plain value.
/// rank 1 to 4: a view of global memory with run-time shape and byte strides; the other members describe its element.
/// extent > 0: a fixed-size array in thread-private memory, indexed by one integer.
/// tile[0] > 0: a tile of one or two dimensions, a block of scalars that the threads of one block hold and process
/// together.
struct Type {
  Shape shape = Shape::kVoid;              ///< kind of the value or, for an array, of its elements
  Scalar scalar = Scalar::kBool;           ///< type of a component; unused for kVoid and kStruct
  std::uint8_t rows = 0;                   ///< number of components of a vector or rows of a matrix; otherwise 0
  std::uint8_t cols = 0;                   ///< number of columns of a matrix; otherwise 0
  std::uint8_t rank = 0;                   ///< number of dimensions of an array in global memory; 0: not such an array
  std::uint16_t struct_id = 0;             ///< index into Module::structs, for kStruct
  std::uint32_t extent = 0;                ///< number of elements of a local array; 0: not a local array
  std::array<std::uint16_t, 2> tile = {};  ///< extent of each dimension of a tile; 0 for a missing dimension

  friend constexpr bool operator==(const Type&, const Type&) = default;

  constexpr bool is_void() const { return shape == Shape::kVoid; }
  constexpr bool is_array() const { return rank > 0; }
  constexpr bool is_local_array() const { return extent > 0; }
  constexpr bool is_tile() const { return rank == 0 && extent == 0 && tile[0] > 0; }
  constexpr bool is_value() const { return rank == 0 && extent == 0 && tile[0] == 0 && shape != Shape::kVoid; }
  constexpr bool is_scalar() const { return is_value() && shape == Shape::kScalar; }
  constexpr bool is_vector() const { return is_value() && shape == Shape::kVector; }
  constexpr bool is_matrix() const { return is_value() && shape == Shape::kMatrix; }
  constexpr bool is_quaternion() const { return is_value() && shape == Shape::kQuaternion; }
  constexpr bool is_transform() const { return is_value() && shape == Shape::kTransform; }
  /// A value of several components of one scalar type.
  constexpr bool is_aggregate() const { return is_vector() || is_matrix() || is_quaternion() || is_transform(); }
  constexpr bool is_struct() const { return is_value() && shape == Shape::kStruct; }
  constexpr bool is_bool() const { return is_scalar() && scalar == Scalar::kBool; }
  constexpr bool is_integer_scalar() const { return is_scalar() && is_integer(scalar); }
  constexpr bool is_float_scalar() const { return is_scalar() && is_float(scalar); }
  /// Returns whether the components of the value or of each element are floats. False for structs, whose fields decide
  /// (see Module).
  constexpr bool has_float_components() const {
    return shape != Shape::kVoid && shape != Shape::kStruct && is_float(scalar);
  }
  /// Returns the type of one element of an array or local array.
  constexpr Type element() const {
    Type type = *this;
    type.rank = 0;
    type.extent = 0;
    return type;
  }
  constexpr int tile_rank() const { return tile[0] == 0 ? 0 : tile[1] == 0 ? 1 : 2; }
  /// Number of elements of a tile; 1 for other types.
  constexpr int tile_size() const { return tile[0] == 0 ? 1 : tile[0] * (tile[1] == 0 ? 1 : tile[1]); }
  /// Extent of the tile's last dimension: the distance between its rows.
  constexpr int tile_columns() const { return tile[1] == 0 ? tile[0] : tile[1]; }
  /// Returns the type of one element of a tile; returns other types unchanged.
  constexpr Type tile_element_type() const {
    Type type = *this;
    type.tile = {};
    return type;
  }
  /// Returns a tile of this type's elements with the extents of `other`.
  constexpr Type with_tile_extents_of(Type other) const {
    Type type = *this;
    type.tile = other.tile;
    return type;
  }
  /// Returns the type of an array in global memory with elements of this type.
  constexpr Type array_of(int array_rank) const {
    Type type = *this;
    type.rank = static_cast<std::uint8_t>(array_rank);
    return type;
  }
  /// Returns the type of a local array with elements of this type.
  constexpr Type local_array_of(std::uint32_t count) const {
    Type type = *this;
    type.extent = count;
    return type;
  }
  /// The scalar type of one component of a vector, matrix, quaternion or transform.
  constexpr Type component() const { return Type{.shape = Shape::kScalar, .scalar = scalar}; }
  /// Returns the type of the part that one index selects: a row of a matrix, or a component of another aggregate.
  constexpr Type indexed_part_type() const {
    return is_matrix() ? Type{.shape = Shape::kVector, .scalar = scalar, .rows = cols} : component();
  }
  /// Number of parts of an aggregate.
  constexpr int parts() const { return is_matrix() ? rows : components(); }
  /// Returns the number of scalar components of one element; 0 for structs and void. A transform has 3 + 4.
  constexpr int components() const {
    switch (shape) {
      case Shape::kScalar: return 1;
      case Shape::kVector: return rows;
      case Shape::kMatrix: return rows * cols;
      case Shape::kQuaternion: return 4;
      case Shape::kTransform: return 7;
      case Shape::kVoid:
      case Shape::kStruct: return 0;
    }
    return 0;
  }
};

inline constexpr Type kVoid{};  ///< no value
constexpr Type scalar_type(Scalar scalar) { return Type{.shape = Shape::kScalar, .scalar = scalar}; }
/// Returns the type of a vector.
constexpr Type vector_type(Scalar scalar, int length) {
  return Type{.shape = Shape::kVector, .scalar = scalar, .rows = static_cast<std::uint8_t>(length)};
}
/// Returns the type of a matrix.
constexpr Type matrix_type(Scalar scalar, int rows, int cols) {
  return Type{.shape = Shape::kMatrix,
              .scalar = scalar,
              .rows = static_cast<std::uint8_t>(rows),
              .cols = static_cast<std::uint8_t>(cols)};
}
constexpr Type quaternion_type(Scalar scalar) { return Type{.shape = Shape::kQuaternion, .scalar = scalar}; }
constexpr Type transform_type(Scalar scalar) { return Type{.shape = Shape::kTransform, .scalar = scalar}; }
/// Returns the type of a tile; without `cols`, it has one dimension.
constexpr Type tile_type(Scalar scalar, int rows, int cols = 0) {
  return Type{.shape = Shape::kScalar,
              .scalar = scalar,
              .tile = {static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(cols)}};
}
/// Returns the type of a struct, which is given by its index in Module::structs.
constexpr Type struct_type(int struct_id) {
  return Type{.shape = Shape::kStruct, .struct_id = static_cast<std::uint16_t>(struct_id)};
}

/// Type of a bool.
inline constexpr Type kBool = scalar_type(Scalar::kBool);
/// Type of a 32-bit signed integer.
inline constexpr Type kI32 = scalar_type(Scalar::kI32);
/// Type of a 64-bit signed integer.
inline constexpr Type kI64 = scalar_type(Scalar::kI64);
/// Type of a 32-bit float.
inline constexpr Type kF32 = scalar_type(Scalar::kF32);
/// Type of a 64-bit float.
inline constexpr Type kF64 = scalar_type(Scalar::kF64);

}  // namespace assay::ir
