// Sizes up to which a program is taken; the verifier and the text form refuse larger ones.
//
// They keep recursion over a program within any stack and its text within memory, far above what people or
// generators write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::ir {

inline constexpr int kMaxBlockDepth = 256;            ///< blocks in blocks, the function's own included
inline constexpr int kMaxExpressionDepth = 256;       ///< operands of operands, the root included
inline constexpr std::int64_t kMaxTreeNodes = 65536;  ///< nodes of one expression, shared ones counted each time
inline constexpr int kMaxStructDepth = 16;            ///< structs in structs
inline constexpr std::size_t kMaxStructs = 4096;
inline constexpr int kMaxRank = 4;                       ///< of arrays and launches
inline constexpr int kMaxVectorLength = 16;              ///< also rows and columns of matrices
inline constexpr std::uint32_t kMaxLocalExtent = 65536;  ///< elements of a local array
inline constexpr int kMaxTileSize = 4096;                ///< elements of a tile
inline constexpr std::size_t kMaxTextBytes = 16U << 20;

}  // namespace assay::ir
