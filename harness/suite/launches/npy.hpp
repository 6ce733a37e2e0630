// Reads the .npy files of NumPy: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace assay::harness {

/// The content of a NumPy file (.npy).
struct NpyArray {
  std::string dtype_descriptor;     ///< NumPy's type of an element: "<f4", "|b1", "|V12"
  std::size_t item_size_bytes = 0;  ///< size of an element in bytes
  std::vector<std::int64_t> shape;  ///< extents; empty for a scalar
  std::vector<std::byte> bytes;     ///< the elements in row-major order
};

/// Fails, with the file and what was expected, if the file is no .npy file of version 1 to 3, if its elements are not
/// plain little-endian data in row-major order, or if it is truncated.
Result<NpyArray> read_npy(const std::filesystem::path& file);

}  // namespace assay::harness
