// The spellings of the instructions that compute, lane by lane, and how one is written into a kernel. For tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/parse/opcode.hpp"
#include "backends/ptx/parse/type.hpp"

namespace assay::ptx::models {

/// "setp.lt.and.f32": a row of the opcode table with one choice of what the row leaves open.
struct Spelling {
  const OpcodeRow* row = nullptr;
  std::vector<std::string_view> words;  ///< modifiers
  Type type = Type::kNone;
  Type source_type = Type::kNone;  ///< as `type` where the row has one type
  unsigned table = 0;              ///< of lop3: its last operand

  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] std::string text() const;
};

/// Whether instructions of the row are computed by each lane for itself and exactly: neither memory, control, warp and
/// barrier operations, nor approximations.
bool is_computed(const OpcodeRow& row);

/// All spellings of the row that PTX has. Fails, by an empty list, where the row has a modifier unknown here.
std::vector<Spelling> spellings_of(const OpcodeRow& row);

/// A source operand of a spelling.
struct Source {
  Type type = Type::kNone;  ///< kPred for predicates
  bool is_amount = false;   ///< a shift's amount, a field's place or length, a selector: 32 bits whatever the type
};
std::vector<Source> sources_of(const Spelling& spelling);

/// Bytes of the result's register; 0 for a predicate.
unsigned result_bytes(const Spelling& spelling);
/// Whether it reads the carry flag, which the models take as their fourth operand.
bool reads_carry(const Spelling& spelling);
/// Whether it has a second result: the carry flag, or the other predicate of setp.
bool has_second_result(const Spelling& spelling);

/// A kernel "k" that applies the instruction to each record of 48 bytes of its only argument, a thread each in blocks
/// of 256: four operands of 8 bytes, then the result and the second result. Null where the lane does not support the
/// spelling.
std::shared_ptr<const Kernel> kernel_of(const Spelling& spelling);

}  // namespace assay::ptx::models
