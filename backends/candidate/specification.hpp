// The parameters of a specification and their values in a launch, which formulas of a contract refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/formula.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "backends/ptx/array_view.hpp"
#include "backends/ptx/parse/type.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// A parameter of the specification.
struct SpecificationParameter {
  std::string name, type;  ///< name of the parameter, and Warp's name of its scalar type: "int32"
  /// Number of dimensions of an array (0: a value), and size of an element or of the value.
  std::size_t rank = 0, bytes = 0;
  bool is_read = true, is_written = false;  ///< whether the kernel reads, or changes, elements of the array
  /// For a gradient `x.grad`: index of the parameter `x`; otherwise nullopt.
  std::optional<std::size_t> primal_index = {};
  const SavedArray* saved_array = nullptr;  ///< the array of the contract that this is; null: of the specification
  bool is_integer() const { return rank == 0 && (type.starts_with("int") || type.starts_with("uint")); }
};

/// The type in PTX of Warp's type of floats with this name; nullopt for other types.
std::optional<ptx::Type> float_type(std::string_view name);

/// The signature of the kernel with which a candidate is compared.
struct Specification {
  std::size_t launch_dimension_count = 1;  ///< number of dimensions of its launches
  /// Parameters of the kernel, then for the backward pass one gradient for each array, then the saved arrays.
  std::vector<SpecificationParameter> parameters;

  /// Adds the saved arrays of a contract, which must outlive this object. Fails if a name is in use.
  Result<void> add_saved_arrays(const std::vector<SavedArray>& arrays);
  /// Fails if the backward pass of a candidate for this specification cannot be judged.
  [[nodiscard]] Result<void> check_backward() const;
  /// Whether a formula is the name of an output or of a saved array.
  [[nodiscard]] bool names_forward_results(const std::vector<std::string>& formulas) const;
  /// The arguments of a kernel whose contract states none. For the forward pass: all parameters. For the backward pass:
  /// the cotangents, the inputs and the gradients with the names `results`; without names, those of all inputs.
  [[nodiscard]] std::vector<std::string> usual_arguments(backends::Pass pass,
                                                         const std::vector<std::string>& results) const;
  /// The indices of the gradients with these names; without names, of all inputs with floats. Only for the backward
  /// pass.
  [[nodiscard]] Result<std::vector<std::size_t>> gradients(const std::vector<std::string>& names) const;
};

/// The launch parameters of a kernel that the compiler of a candidate determines.
struct CompiledLaunch {
  std::uint32_t block_threads = 0;  ///< threads of a block; 0: the contract specifies the number
  /// Size of the dynamic shared memory of a block in bytes, by architecture.
  std::map<std::string, std::uint32_t> shared_bytes;
  /// Size of the scratch memory of a block in global memory, in bytes, by architecture.
  std::map<std::string, std::uint32_t> scratch_bytes;
  /// Number of additional parameters at the end. The first one gets the scratch memory if there is any. The others get
  /// null pointers.
  std::size_t hidden_parameter_count = 0;
};

/// Returns the artifact that describes the specification's parameters and the launches of both passes.
std::shared_ptr<const backends::Artifact> describe(const backends::PythonBinding& binding,
                                                   const CompiledLaunch& forward = {},
                                                   const CompiledLaunch& backward = {});

/// A launch in an artifact that describe() returned.
CompiledLaunch compiled_launch_of(const backends::Artifact& description, backends::Pass pass);

/// The specification in an artifact that describe() returned.
Specification specification_of(const backends::Artifact& description, backends::Pass pass = backends::Pass::kForward);

/// Whether a formula is a single name.
bool is_name(std::string_view formula);
/// The message that an argument of the backward pass is unknown.
std::string unknown_argument_text(std::string_view name);
/// The message that a saved array has the name of a parameter of the specification.
std::string saved_name_in_use_text(std::string_view name);

/// The arguments of one launch of the specification, by parameter.
class SpecificationArguments {
 public:
  /// One argument: an array or the bytes of a value.
  struct Argument {
    std::optional<ptx::ArrayView> view;  ///< the array; nullopt for a value
    std::vector<std::byte> value;        ///< bytes of the value; empty for an array
  };

  /// Fails if the launch has fewer arguments than the specification, or if a saved array cannot be allocated. The
  /// specification must outlive the result. `allocate_saved` returns memory of this size for the saved array with this
  /// number.
  static Result<SpecificationArguments> of(
      const Specification& specification, const backends::LaunchRequest& launch,
      const std::function<Result<std::pair<backends::BufferId, std::span<std::byte>>>(
          std::size_t number, std::size_t bytes)>& allocate_saved);

  [[nodiscard]] const Argument& at(std::size_t parameter) const { return arguments_[parameter]; }
  /// The index of the parameter with this name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// The value of an integer parameter.
  [[nodiscard]] std::int64_t integer(std::size_t parameter) const;
  /// What formulas may refer to; valid as long as this object.
  [[nodiscard]] FormulaNameLookup names() const;

 private:
  /// The view of a saved array without its memory.
  [[nodiscard]] Result<ptx::ArrayView> saved_view(const SpecificationParameter& parameter) const;

  SpecificationArguments(const Specification& specification, std::int64_t threads)
      : specification_(&specification), thread_count_(threads) {}

  const Specification* specification_;
  std::int64_t thread_count_;                 ///< number of threads of the launch
  std::vector<std::int64_t> launch_extents_;  ///< number of threads in each dimension of the launch
  std::vector<Argument> arguments_;           ///< arguments, by parameter
};

}  // namespace assay::candidate
