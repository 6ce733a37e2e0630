// Checks the formulas of a contract before anything is compiled, so that a mistake in the contract is not reported as a
// mistake of the candidate.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backends/candidate/contract.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// A parameter of the specification, as formulas may name it.
struct FormulaParameter {
  std::string name;
  std::size_t rank = 0;     ///< number of dimensions of an array; 0: a value
  bool is_integer = false;  ///< whether it is a value of an integer type
};

/// Fails at the first malformed formula.
Result<void> check_syntax(const CandidateContract& contract);

/// Fails at the first formula with a name or a dimension that this specification does not have. `launch_rank`: number
/// of dimensions of its launches.
Result<void> check_names(const CandidateContract& contract, std::span<const FormulaParameter> parameters,
                         std::size_t launch_rank);

}  // namespace assay::candidate
