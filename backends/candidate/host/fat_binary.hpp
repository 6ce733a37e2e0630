// The container in which a CUDA compiler stores the code of a source file for several architectures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::candidate {

/// The PTX texts in a fat binary, without final zero bytes, in the order of the container. Fails if the container is
/// malformed or if a PTX text is compressed. The layout is that of `fatbinary` from CUDA 11 to 13: a header of at least
/// 16 bytes, which starts with a magic number, and entries with a header each.
Result<std::vector<std::string>> ptx_of(std::span<const std::byte> fat_binary);

/// The size of a fat binary in bytes, from its header; 0 if the memory holds something else. Reads 16 bytes.
std::size_t fat_binary_bytes(const void* fat_binary);

/// A fat binary that contains one PTX text.
std::string fat_binary_of(std::string_view ptx);

}  // namespace assay::candidate
