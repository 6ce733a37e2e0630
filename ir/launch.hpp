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

/// The size and alignment of a value type in memory.
struct MemoryLayout {
  std::size_t size = 0;       ///< size in bytes
  std::size_t alignment = 1;  ///< alignment in bytes
};
MemoryLayout layout_of(const Module& module, Type type);
/// Byte offset of a field of a struct.
std::size_t field_offset(const Module& module, const StructDef& definition, std::size_t field);

/// The argument for one parameter, with its memory.
struct Argument {
  Type type;                        ///< type of the parameter
  std::vector<std::int32_t> shape;  ///< for arrays: extent of each dimension
  /// For arrays: bytes from one index to the next, by dimension; multiples of the element size.
  std::vector<std::int64_t> strides;
  std::vector<std::byte> bytes;  ///< for arrays: the memory of the elements; otherwise the bytes of the value
};

/// The extents of a launch and its arguments.
struct Launch {
  std::vector<std::int32_t> extents;  ///< number of threads in each dimension; one for each thread index
  std::vector<Argument> arguments;    ///< arguments, one for each parameter

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

/// One scalar component of a value type. Components are in memory order; structs are flattened, and fields that are
/// arrays are omitted.
struct ScalarComponent {
  std::size_t offset = 0;        ///< offset of the component in the value, in bytes
  Scalar scalar = Scalar::kF32;  ///< type of the component
};
std::vector<ScalarComponent> scalar_components(const Module& module, Type type);

/// The f64 promotion: every float type becomes f64. Values are preserved exactly.
Type promoted(Type type);
Module promoted(const Module& module);
Launch promoted(const Module& module, const Launch& launch);

}  // namespace assay::ir
