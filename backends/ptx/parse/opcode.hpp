// The table of instructions, with the modifiers, types and operands of each. The parser and the validator use it;
// lowering.cpp has one rule for each enumerator.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/ptx/parse/modifier.hpp"

namespace assay::ptx {

enum class Opcode : std::uint8_t {
  kUnsupported,
  kAbs,
  kActivemask,
  kAdd,
  kAddc,
  kAnd,
  kAtom,
  kBar,
  kBarWarp,
  kBfe,
  kBfi,
  kBfind,
  kBra,
  kBrev,
  kCall,
  kClz,
  kCnot,
  kCopysign,
  kCos,
  kCpAsync,
  kCpAsyncCommit,
  kCpAsyncWait,
  kCvt,
  kCvta,
  kCvtaTo,
  kDiv,
  kDp2a,
  kDp4a,
  kElect,
  kEx2,
  kExit,
  kFma,
  kIsspacep,
  kLd,
  kLdmatrix,
  kLg2,
  kLop3,
  kMad,
  kMadWide,
  kMadc,
  kMatch,
  kMax,
  kMembar,
  kMin,
  kMma,
  kMov,
  kMul,
  kMulWide,
  kMul24,
  kMad24,
  kNanosleep,
  kNeg,
  kNot,
  kOr,
  kPopc,
  kPrefetch,
  kPrmt,
  kRcp,
  kRed,
  kRedux,
  kRem,
  kRet,
  kRsqrt,
  kSad,
  kSelp,
  kSet,
  kSetp,
  kShf,
  kShfl,
  kShl,
  kShr,
  kSin,
  kSlct,
  kSqrt,
  kSt,
  kStmatrix,
  kSub,
  kSubc,
  kTanh,
  kTestp,
  kTrap,
  kVote,
  kWmmaLoad,
  kWmmaMma,
  kWmmaStore,
  kXor,
};

/// The category of an instruction in a profile.
enum class InstructionCategory : std::uint8_t {
  kFloat,
  kSpecialFunction,
  kInteger,
  kConvert,
  kMove,
  kPredicate,
  kLoad,
  kStore,
  kAtomic,
  kControl,
  kWarp,
  kBarrier,
};
inline constexpr std::size_t kInstructionCategoryCount = 12;
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
///   a address       l label       n integer constant       y source of 32 bits, or a predicate
///   * anything (call)
struct OpcodeRow {
  Opcode opcode;                        ///< opcode that the parser returns
  InstructionCategory category;         ///< category in a profile
  std::string_view name;                ///< name as it is spelled: "setp"
  std::string_view required_modifiers;  ///< modifiers or types that distinguish this row from others with its name
  std::string_view modifiers;           ///< further modifiers that may be present, separated by blanks
  std::string_view
      allowed_types;  ///< allowed types; lists for several types are separated by '/', those of optional types by '?'
  std::string_view operands;  ///< one letter for each operand, as explained above
};

std::span<const OpcodeRow> opcode_rows();

/// Whether `words`, a blank-separated list, contains `word`.
bool contains_word(std::string_view words, std::string_view word);

}  // namespace assay::ptx
