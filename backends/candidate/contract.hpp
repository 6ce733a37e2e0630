// How a candidate is launched: the entry point, its arguments, the grid and the block. Stated in a file next to the
// candidate (schemas/candidate.schema.json), or inferred from the specification.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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
  /// What the host function returns, in order. Of the forward function: outputs of the specification, and other names
  /// for tensors that the backward function may get; empty: the outputs. Of the backward function: the gradients that
  /// it computes; empty: those of the inputs with floats.
  std::vector<std::string> result_names;
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

/// How a program with main() is run.
struct ProgramContract {
  std::vector<std::string> argument_formulas;  ///< one for each argument of the program
  /// For an array or value of the specification: the parameter of a kernel that it is, "kernel[0]". Empty: inferred.
  std::map<std::string, std::string> kernel_parameters;
  [[nodiscard]] bool states_anything() const { return !argument_formulas.empty() || !kernel_parameters.empty(); }
};

/// How the backward pass is called. Its arguments may be `x.grad`, the gradient of the array `x`.
struct BackwardContract {
  /// How its function or kernel is called; without formulas for arguments: the cotangents, then the inputs and, for a
  /// kernel, the gradients that it computes.
  LaunchContract launch;
  bool accumulates_all = false;                ///< whether it adds to all gradients instead of overwriting them
  std::vector<std::string> accumulated_names;  ///< gradients to which it adds, if accumulates_all is false

  /// Whether it adds to the gradient with this name: "x.grad".
  [[nodiscard]] bool accumulates(std::string_view gradient) const;
};

/// An array that is not a parameter of the specification. Assay allocates it for each run of the forward pass, and it
/// keeps its content until the backward pass ends.
struct SavedArray {
  std::string name;                         ///< name in the arguments of both passes
  std::string type;                         ///< Warp's name of its scalar type: "float32"
  std::vector<std::string> shape_formulas;  ///< formulas of its extents
  bool is_zeroed = false;  ///< whether its elements are zero at the start; otherwise nothing has written them
};

/// The only extents that a candidate supports.
struct ExtentsContract {
  std::vector<std::int32_t> threads;                        ///< extents of the specification's launch; empty: any
  std::map<std::string, std::vector<std::int32_t>> shapes;  ///< extents of arrays of the specification
};

struct CandidateContract {
  LaunchContract forward;
  std::vector<SavedArray> saved_arrays;      ///< additional arrays that both passes may use
  std::optional<BackwardContract> backward;  ///< nullopt: only the forward pass is judged
  ProgramContract program;                   ///< only for a program with main()
  std::string architecture;                  ///< architecture to compile for: "compute_90a"; empty: the default
  ExtentsContract extents;                   ///< the extents of all launches, if the candidate has constant sizes

  /// See LaunchContract. The backward pass writes whole gradients, so arrays must have exactly the extents that it
  /// needs.
  [[nodiscard]] bool derives_work_from_extents() const {
    return forward.derives_work_from_extents() || backward.has_value();
  }
};

/// The contract in CANDIDATE.assay.json, the candidate's path without its extension; one that states nothing if the
/// file does not exist. Fails if the file is invalid or has a malformed formula.
Result<CandidateContract> contract_of(const std::filesystem::path& candidate);

/// The path of the contract of a candidate.
std::filesystem::path contract_path(const std::filesystem::path& candidate);

}  // namespace assay::candidate
