// How a candidate is launched: the entry point, its arguments, the grid and the block. Stated in a file next to the
// candidate (schemas/candidate.schema.json), or inferred from the specification.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::candidate {

/// The largest relative input error, in unit roundoffs, that the bounds of a candidate allow for. Rounding errors of
/// another algorithm correspond to such input errors: 1 to 3 for sums in another order, online algorithms and the like.
inline constexpr double kInputErrorInUnitRoundoffs = 4;

/// How one kernel or host function is called.
struct LaunchContract {
  std::string entry_point_name;                ///< name of the kernel; empty: the only one
  std::string host_function_name;              ///< name of the host function to call; empty: the only one, or none
  std::vector<std::string> argument_formulas;  ///< one for each parameter: an array or a formula; empty: inferred
  std::vector<std::string> grid_formulas;   ///< formulas of the numbers of blocks; empty: as many as cover all threads
  std::vector<std::string> block_formulas;  ///< formulas of the numbers of threads of a block; empty: 256
  std::string shared_bytes_formula = "0";   ///< formula of the dynamic shared memory of a block
  /// A JSON object with the values of constexpr parameters. Only for a Triton kernel, like the two members below.
  std::string constexpr_json = "{}";
  std::optional<int> warp_count;   ///< warps of a block; nullopt: Triton's default
  std::optional<int> stage_count;  ///< stages of software pipelines; nullopt: Triton's default
  /// Significant bits of the type to which the candidate rounds float32 inputs; nullopt: it does not.
  std::optional<int> input_bits;

  /// Whether it states anything that only a Triton kernel has.
  [[nodiscard]] bool has_triton_members() const {
    return constexpr_json != "{}" || warp_count.has_value() || stage_count.has_value();
  }
  /// Whether a formula uses the extents of arrays, and none uses the threads of the specification: then the candidate
  /// computes as much as the arrays hold.
  [[nodiscard]] bool derives_work_from_extents() const;
  /// The relative error that each input of the specification gets for the bounds, in unit roundoffs of float32:
  /// kInputErrorInUnitRoundoffs, and for rounded inputs two unit roundoffs of their type, because tensor cores may
  /// round towards zero.
  [[nodiscard]] double input_error() const;
  /// The value of a constexpr parameter that is an integer.
  [[nodiscard]] std::optional<std::int64_t> constexpr_integer(std::string_view name) const;
};

/// How the host function of the backward pass is called. Its arguments may be `x.grad`, the gradient of the array `x`.
struct BackwardContract {
  std::string host_function_name;              ///< name of the host function; empty: `backward`
  std::vector<std::string> argument_formulas;  ///< empty: the gradients of the outputs, then the inputs
  std::vector<std::string> result_names;       ///< gradients that it computes; empty: those of the inputs with floats
  bool accumulates = false;                    ///< whether it adds to the gradients instead of overwriting them
};

struct CandidateContract {
  LaunchContract forward;
  std::optional<BackwardContract> backward;  ///< nullopt: only the forward pass is judged
};

/// The contract in CANDIDATE.assay.json, the candidate's path without its extension; one that states nothing if the
/// file does not exist. Fails if the file is invalid.
Result<CandidateContract> contract_of(const std::filesystem::path& candidate);

/// The path of the contract of a candidate.
std::filesystem::path contract_path(const std::filesystem::path& candidate);

}  // namespace assay::candidate
