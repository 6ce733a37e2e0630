// Compares the interpreter with the models: all inputs of one spelling, or every instruction of a PTX text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/ptx/models/inputs.hpp"
#include "backends/ptx/models/instruction_models.hpp"
#include "support/result.hpp"

namespace assay::ptx::models {

/// The result of comparing the interpreter with the model of one spelling.
struct ModelComparison {
  std::size_t compared_input_count =
      0;  ///< number of results compared; 0 if the interpreter does not support the spelling
  std::string
      first_disagreement;  ///< the first incorrect result: "min.s32 of 0x1, ...: got 0x2, expected 0x1"; or empty
  bool has_model = true;   ///< whether the spelling has a model
};
ModelComparison compare(const InstructionForm& spelling, const InputCounts& counts);

/// The spelling of an instruction as PTX writes it, such as "setp.lt.f32"; null if it has no model. `truth_table` is
/// the truth table of a lop3.
const InstructionForm* find_spelling(std::string_view text, unsigned table);

/// The instructions of some PTX texts, and the result of checking them.
struct InstructionCheckResult {
  std::vector<std::string>
      used_instructions;  ///< every instruction, once, without operands: "setp.lt.f32"; see `unchecked_instructions`
  std::vector<std::string>
      unchecked_instructions;              ///< those without a model, without types and memory: "ld", "atom.add"
  std::vector<std::string> disagreements;  ///< one line for each instruction with a result unlike its model
};

/// Lists the instructions of the texts and, if `compares`, executes each with a few thousand inputs. Fails if a text
/// cannot be parsed.
Result<InstructionCheckResult> check_instructions(std::span<const std::string> texts, bool compares);

}  // namespace assay::ptx::models
