// One launch of a kernel: its extents and the memory bound to its parameters, in the layout of the emitted code.
//
// Layout: scalars in their own size (bool one byte); vectors, matrices (row major), quaternions (x, y, z, w) and
// transforms (translation, then rotation) as their components without gaps; structs as in C, with natural alignment.
// Arrays carry byte strides; contiguous arrays are row major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// Size and alignment in bytes of a value type.
struct MemoryLayout {
  std::size_t size = 0;       ///< number of bytes
  std::size_t alignment = 1;  ///< alignment in bytes
};
MemoryLayout layout_of(const Module& module, Type type);
/// Byte offset of a field of a struct.
std::size_t field_offset(const Module& module, const StructDef& definition, std::size_t field);

/// The argument bound to one parameter. Owns its memory.
struct Argument {
  Type type;                          ///< the parameter's type
  std::vector<std::int32_t> shape;    ///< arrays: extent of each dimension
  std::vector<std::int64_t> strides;  ///< arrays: bytes from one index to the next, per dimension;
                                      ///< multiples of the element size
  std::vector<std::byte> bytes;       ///< arrays: the elements' memory; values: the value
};

struct Launch {
  std::vector<std::int32_t> extents;  ///< launch extents, one for each thread index
  std::vector<Argument> arguments;    ///< one for each parameter

  /// Product of the extents.
  std::int64_t threads() const;
};

/// A zero-filled contiguous array argument, or a zero value argument if `type` is not an array.
Argument make_argument(const Module& module, Type type, std::vector<std::int32_t> shape = {});
/// Number of elements.
std::int64_t element_count(const Argument& argument);
/// Byte offset of the element with this row-major index.
std::size_t element_offset(const Argument& argument, std::int64_t number);

/// Reads or writes one scalar in memory. Floats are read exactly and rounded to nearest even when written; integers
/// wrap.
double read_float(Scalar scalar, const std::byte* at);
void write_float(Scalar scalar, std::byte* at, double value);
std::int64_t read_integer(Scalar scalar, const std::byte* at);
void write_integer(Scalar scalar, std::byte* at, std::int64_t value);

/// The scalar components of a value type in memory order: structs are flattened, array fields are omitted.
struct ScalarComponent {
  std::size_t offset = 0;        ///< position of the component in the value, in bytes
  Scalar scalar = Scalar::kF32;  ///< type of the component
};
std::vector<ScalarComponent> scalar_components(const Module& module, Type type);

/// The f64 promotion: every float type becomes f64. Values are preserved exactly.
Type promoted(Type type);
Module promoted(const Module& module);
Launch promoted(const Module& module, const Launch& launch);

}  // namespace assay::ir
