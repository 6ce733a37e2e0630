// How a candidate is launched: the entry point, its arguments, the grid and the block. Stated in a file next to the
// candidate (schemas/candidate.schema.json), or inferred from the specification.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace assay::candidate {

struct LaunchContract {
  std::string entry_point_name;                ///< name of the kernel; empty: the only one
  std::string host_function_name;              ///< name of the host function to call; empty: the only one, or none
  std::vector<std::string> argument_formulas;  ///< one for each parameter: an array or a formula; empty: inferred
  std::vector<std::string> grid_formulas;   ///< formulas of the numbers of blocks; empty: as many as cover all threads
  std::vector<std::string> block_formulas;  ///< formulas of the numbers of threads of a block; empty: 256
  std::string shared_bytes_formula = "0";   ///< formula of the dynamic shared memory of a block
};

/// The contract in CANDIDATE.assay.json, the candidate's path without its extension; one that states nothing if the
/// file does not exist. Fails if the file is invalid.
Result<LaunchContract> contract_of(const std::filesystem::path& candidate);

/// The path of the contract of a candidate.
std::filesystem::path contract_path(const std::filesystem::path& candidate);

}  // namespace assay::candidate
