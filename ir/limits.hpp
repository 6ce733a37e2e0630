// Size limits of programs; the verifier and the parser of the text form reject larger programs.
//
// The limits bound the stack that recursion over a program needs and the memory of its text. They are far above the
// sizes of programs that people or generators write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::ir {

inline constexpr int kMaxBlockDepth = 256;            ///< nesting of blocks, including the function's own block
inline constexpr int kMaxExpressionDepth = 256;       ///< nesting of operands, including the root
inline constexpr std::int64_t kMaxTreeNodes = 65536;  ///< nodes of one expression; shared nodes count each time
inline constexpr int kMaxStructDepth = 16;            ///< nesting of structs
inline constexpr std::size_t kMaxStructs = 4096;
inline constexpr int kMaxRank = 4;                       ///< of arrays and launch dimensions
inline constexpr std::uint32_t kMaxLocalExtent = 65536;  ///< elements of a local array
inline constexpr int kMaxTileSize = 4096;                ///< elements of a tile
inline constexpr std::size_t kMaxTextBytes = 16U << 20;

}  // namespace assay::ir
