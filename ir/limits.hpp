// Size limits of programs; the verifier and the parser of the text form reject larger programs.
//
// The limits bound the stack that recursion over a program needs and the memory of its text. They are far above the
// sizes of programs that people or generators write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::ir {

inline constexpr int kMaxBlockDepth = 256;  ///< maximum nesting depth of blocks, including the function's own block
inline constexpr int kMaxExpressionDepth = 256;  ///< maximum nesting depth of an expression, including its root
inline constexpr std::int64_t kMaxExpressionNodes =
    65536;                                            ///< maximum nodes of one expression; shared nodes count each time
inline constexpr int kMaxStructDepth = 16;            ///< maximum nesting depth of structs
inline constexpr std::size_t kMaxStructCount = 4096;  ///< maximum number of structs in a module
inline constexpr int kMaxRank = 4;                    ///< maximum number of dimensions of an array or launch
inline constexpr std::uint32_t kMaxLocalArraySize = 65536;  ///< maximum number of elements of a local array
inline constexpr int kMaxTileSize = 4096;                   ///< maximum number of elements of a tile
inline constexpr std::size_t kMaxIrTextBytes = 16U << 20;   ///< maximum size of a program in the text form

}  // namespace assay::ir
