// The parameters of a specification and their values in a launch, which formulas of a contract refer to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  bool is_integer() const { return rank == 0 && (type.starts_with("int") || type.starts_with("uint")); }
};

/// The type in PTX of Warp's type of floats with this name; nullopt for other types.
std::optional<ptx::Type> float_type(std::string_view name);

/// The signature of the kernel with which a candidate is compared.
struct Specification {
  std::size_t launch_dimension_count = 1;  ///< number of dimensions of its launches
  /// Parameters of the kernel, then for the backward pass one gradient for each array.
  std::vector<SpecificationParameter> parameters;
};

/// The launch parameters that the compiler of a candidate determines.
struct CompiledLaunch {
  std::uint32_t block_threads = 0;  ///< threads of a block; 0: the contract specifies the number
  /// Size of the dynamic shared memory of a block in bytes, by architecture.
  std::map<std::string, std::uint32_t> shared_bytes;
  std::size_t hidden_parameter_count = 0;  ///< number of additional parameters at the end, which get null pointers
};

/// Returns the artifact that describes the specification's parameters and the launch.
std::shared_ptr<const backends::Artifact> describe(const backends::PythonBinding& binding,
                                                   const CompiledLaunch& launch = {});

/// The launch in an artifact that describe() returned.
CompiledLaunch compiled_launch_of(const backends::Artifact& description);

/// The specification in an artifact that describe() returned.
Specification specification_of(const backends::Artifact& description, backends::Pass pass = backends::Pass::kForward);

/// The arguments of one launch of the specification, by parameter.
class SpecificationArguments {
 public:
  /// One argument: an array or the bytes of a value.
  struct Argument {
    std::optional<ptx::ArrayView> view;  ///< the array; nullopt for a value
    std::vector<std::byte> value;        ///< bytes of the value; empty for an array
  };

  /// Fails if the launch has fewer arguments than the specification. The specification must outlive the result.
  static Result<SpecificationArguments> of(const Specification& specification, const backends::LaunchRequest& launch);

  [[nodiscard]] const Argument& at(std::size_t parameter) const { return arguments_[parameter]; }
  /// The index of the parameter with this name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// The value of an integer parameter.
  [[nodiscard]] std::int64_t integer(std::size_t parameter) const;
  /// What formulas may refer to; valid as long as this object.
  [[nodiscard]] FormulaNameLookup names() const;

 private:
  SpecificationArguments(const Specification& specification, std::int64_t threads)
      : specification_(&specification), thread_count_(threads) {}

  const Specification* specification_;
  std::int64_t thread_count_;                 ///< number of threads of the launch
  std::vector<std::int64_t> launch_extents_;  ///< number of threads in each dimension of the launch
  std::vector<Argument> arguments_;           ///< arguments, by parameter
};

}  // namespace assay::candidate
