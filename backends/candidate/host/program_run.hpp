// A run of a program with main(), in which arrays of a specification replace the program's own data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/candidate/host/call.hpp"
#include "backends/candidate/host/simulated_gpu.hpp"
#include "backends/candidate/host/worker.hpp"
#include "backends/device/backend.hpp"

namespace assay::candidate {

/// Sees the launches of one run of a program. The first launch that gets an input of the specification finds the
/// input's content in its memory. A result is what the program copies to the host from the memory that the last launch
/// gets.
class ProgramRun final : public CallObserver {
 public:
  /// `values`: arrays and values of the specification, with host addresses. `parameters`: the kernels' parameters for
  /// them. `has_arguments`: whether arguments state the sizes of arrays to the program.
  ProgramRun(SimulatedGpu& gpu, std::span<const CallArgument> values, std::span<const ProgramParameter> parameters,
             bool has_arguments);

  std::optional<backends::RunOutcome> before_launch(const std::string& kernel,
                                                    std::vector<std::vector<std::byte>>& arguments) override;
  void copied_to_host(std::uint64_t source, std::uint64_t size) override;
  /// After the end of the program with this exit status: writes the results into the arrays of the specification.
  /// Returns a failure if a result is incomplete.
  std::optional<backends::RunOutcome> write_results(int exit_status);

 private:
  /// An array or a value of the specification.
  struct Binding {
    const CallArgument* value;          ///< the array or value
    const ProgramParameter* parameter;  ///< the kernel's parameter
    std::uint64_t bytes = 0;            ///< size of the array
    std::uint64_t address = 0;          ///< device address in the latest launch; 0: no launch yet
    std::vector<std::byte> result;      ///< bytes that the program has copied to the host, for an output
    std::vector<bool> is_copied;        ///< by byte: whether the program has copied it
  };

  /// The index of the parameter among those of the launch; nullopt if the launch does not get it.
  [[nodiscard]] std::optional<std::size_t> index_in(const Binding& binding, const std::string& kernel,
                                                    const std::vector<std::vector<std::byte>>& arguments) const;
  /// The indices of the arguments that are addresses of device memory.
  [[nodiscard]] std::vector<std::size_t> pointers_in(const std::vector<std::vector<std::byte>>& arguments) const;
  std::optional<backends::RunOutcome> bind_array(Binding& binding, std::uint64_t address, const std::string& kernel);
  void write_unrounded_values(const Binding& binding) const;

  SimulatedGpu& gpu_;
  std::vector<Binding> bindings_;
  std::size_t array_count_ = 0;  ///< number of arrays of the specification
  bool has_arguments_;           ///< see the constructor
  std::string inferred_kernel_;  ///< the kernel that gets the arrays, if no contract names it; empty: not started yet
  std::vector<std::string> started_kernels_;  ///< names of all kernels that the program has started
};

}  // namespace assay::candidate
