// The table of instructions, with the modifiers, types and operands of each. The parser and the validator use it;
// lowering.cpp has one rule for each enumerator.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/ptx/parse/modifier.hpp"

namespace assay::ptx {

/// The opcodes. Some are one spelling of a PTX instruction with a different meaning of its operands.
enum class Opcode : std::uint8_t {
  kUnsupported,  ///< an opcode that the interpreter does not support
  kAbs,          ///< absolute value
  kActivemask,   ///< mask of the active lanes
  kAdd,
  kAddc,  ///< addition with carry-in
  kAnd,
  kAtom,             ///< atomic operation that returns the old value
  kBar,              ///< barrier of a block
  kBarWarp,          ///< barrier of lanes of a warp
  kBfe,              ///< extraction of a bit field
  kBfi,              ///< insertion of a bit field
  kBfind,            ///< position of the highest set bit
  kBra,              ///< branch
  kBrev,             ///< reversal of the bits
  kBrx,              ///< branch to a target that an index selects
  kCall,             ///< call of a function
  kClz,              ///< number of leading zero bits
  kClusterBarrier,   ///< arrival or wait at the barrier of a cluster of blocks
  kCnot,             ///< logical negation: 1 if the operand is 0, otherwise 0
  kCopysign,         ///< magnitude of one float with the sign of another
  kCos,              ///< cosine
  kCpAsync,          ///< start of an asynchronous copy to shared memory
  kCpAsyncCommit,    ///< end of a group of asynchronous copies
  kCpAsyncWait,      ///< wait for asynchronous copies
  kBulkCopy,         ///< start of a bulk copy between global and shared memory
  kBulkCopyControl,  ///< end of a group of bulk copies, or wait for groups
  kCvt,              ///< conversion between types
  kCvta,             ///< conversion of an address to a generic address
  kCvtaTo,           ///< cvta.to: conversion of a generic address to a state space
  kDiv,
  kDp2a,            ///< dot product of two 16-bit and two 8-bit integers, plus an integer
  kDp4a,            ///< dot product of two times four 8-bit integers, plus an integer
  kElect,           ///< election of one lane of a mask
  kEx2,             ///< power of two
  kExit,            ///< end of the thread
  kGriddepcontrol,  ///< order of dependent grids, without an effect on a single launch
  kGetctarank,      ///< rank in the cluster of the block to whose shared memory an address belongs
  kFma,             ///< a * b + c with one rounding
  kIsspacep,        ///< test whether a generic address is in a state space
  kLd,              ///< load
  kLdmatrix,        ///< load of matrices from shared memory
  kLg2,             ///< binary logarithm
  kLop3,            ///< bitwise function of three operands, given by a truth table
  kMad,             ///< a * b + c
  kMadWide,         ///< mad.wide: product of double width, plus an integer
  kMadc,            ///< a * b + c with carry-in
  kMapa,            ///< address in the shared memory of a block of the cluster
  kMatch,           ///< mask of the lanes with an equal value
  kMax,
  kMbarrier,  ///< operation on an mbarrier object
  kMembar,    ///< fence (membar, fence)
  kMin,
  kMma,  ///< product of matrices in registers
  kMov,  ///< copy
  kMul,
  kMulWide,    ///< mul.wide: product of double width
  kMul24,      ///< product of 24-bit integers
  kMad24,      ///< product of 24-bit integers, plus an integer
  kNanosleep,  ///< delay of the thread
  kNeg,
  kNot,  ///< bitwise complement
  kOr,
  kPopc,        ///< number of set bits
  kPrefetch,    ///< prefetch into a cache, without an effect on results
  kProxyFence,  ///< fence between accesses of threads and asynchronous accesses
  kPrmt,        ///< selection of bytes from two words
  kRcp,         ///< reciprocal
  kRed,         ///< atomic operation without a result
  kRedux,       ///< reduction over the lanes of a mask
  kRem,         ///< remainder of integers
  kRet,         ///< return from a function
  kRsqrt,       ///< reciprocal square root
  kSad,         ///< sum of a value and an absolute difference
  kSelp,        ///< selection by a predicate
  kSet,         ///< comparison with a result in a register
  kSetp,        ///< comparison with a predicate as result
  kSetmaxnreg,  ///< change of the number of registers, without an effect on results
  kShf,         ///< shift of two words that are joined
  kShfl,        ///< exchange of values between lanes
  kShl,         ///< left shift
  kShr,         ///< right shift
  kSin,         ///< sine
  kSlct,        ///< selection by the sign of an operand
  kSqrt,
  kSt,        ///< store
  kStmatrix,  ///< store of matrices to shared memory
  kSub,
  kSubc,           ///< subtraction with borrow-in
  kTanh,           ///< hyperbolic tangent
  kTensorMap,      ///< change or copy of a tensor map
  kTensorMemory,   ///< operation of all lanes of a warp on tensor memory: allocation, load, store, wait
  kTensorProduct,  ///< asynchronous product of matrices in tensor memory, or copy to it, and their completion
  kTestp,          ///< test for a class of floats, such as NaN
  kTrap,           ///< end of the launch with an error
  kVote,           ///< vote of the lanes of a mask
  kWgmma,          ///< asynchronous product of matrices by a warpgroup
  kWgmmaControl,   ///< fence of a warpgroup, end of a group of its products, or wait for groups
  kWmmaLoad,       ///< load of a wmma fragment
  kWmmaMma,        ///< product of wmma fragments
  kWmmaStore,      ///< store of a wmma fragment
  kXor,
};

/// The category of an instruction in a profile.
enum class InstructionCategory : std::uint8_t {
  kFloat,            ///< arithmetic on floats
  kSpecialFunction,  ///< division, square roots, exponential, logarithm and trigonometric functions
  kInteger,          ///< arithmetic, bit operations and shifts of integers
  kConvert,          ///< conversions
  kMove,             ///< copies, selections and conversions of addresses
  kPredicate,        ///< comparisons and tests
  kLoad,             ///< loads
  kStore,            ///< stores
  kAtomic,           ///< atomic operations
  kControl,          ///< branches, calls, exits, prefetches and delays
  kWarp,             ///< communication between the lanes of a warp, and products of matrices
  kBarrier,          ///< barriers, fences and waits for asynchronous copies
};
inline constexpr std::size_t kInstructionCategoryCount = 12;  ///< number of categories
std::string_view to_text(InstructionCategory category);

/// One form of an instruction. Several rows may share a name; the first whose required modifiers are present applies.
///
/// `operands` has one letter for each operand; operands after '?' are optional:
///   d destination of the instruction's type      X destination of any width     W destination twice as wide
///   s source of the type       t source of the last type        x source of any width    w source twice as wide
///   u source of 32 bits        i source of any kind (mov, cvta): register, number, symbol, vector
///   p predicate, perhaps negated       P destination predicate       q destination predicate, or two "p|q"
///   Q destination of the type, or with a predicate "d|p"
///   D, S destination and source of a memory access: register of at least the type's width, or a vector of them
///   F source or destination that consists of a register or a vector of registers of 32 or 64 bits
///   T address of a tensor map with coordinates: "[%rd1, {%r1, %r2}]"
///   a address       l label       n integer constant       y source of 32 bits, or a predicate
///   * anything (call)
/// Among the modifiers, "m64nNk16" stands for m64n8k16, m64n16k16 and so on up to m64n256k16.
struct OpcodeRow {
  Opcode opcode;                 ///< opcode of instructions of this form
  InstructionCategory category;  ///< category in which a profile counts the instruction
  std::string_view name;         ///< name of the instruction: "setp"
  /// Modifiers or types that the instruction must have; they distinguish this row from others with its name.
  std::string_view required_modifiers;
  std::string_view modifiers;  ///< optional modifiers, separated by blanks
  std::string_view
      allowed_types;  ///< allowed types; lists for several types are separated by '/', those of optional types by '?'
  std::string_view operands;  ///< one letter for each operand, as explained above
};

std::span<const OpcodeRow> opcode_rows();

/// Whether `words`, a blank-separated list, contains `word`.
bool contains_word(std::string_view words, std::string_view word);

}  // namespace assay::ptx
