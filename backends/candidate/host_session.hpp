// A session that calls the host function of a candidate in a worker. Private to the device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/host/call.hpp"
#include "backends/candidate/host/worker.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/device/backend.hpp"
#include "backends/ptx/device.hpp"
#include "backends/worker/session.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// Opens a worker for candidates with host code. `folder` contains all libraries that it may load.
Result<std::unique_ptr<worker::WorkerSession>> open_host_workers(const backends::SessionLimits& limits,
                                                                 const std::filesystem::path& folder);

/// Runs a launch by calling the candidate's host function in a worker.
class HostCandidateSession final : public backends::DeviceSession {
 public:
  HostCandidateSession(std::unique_ptr<worker::WorkerSession> workers, const ptx::PtxOptions& options,
                       CandidateContract contract, bool is_program)
      : workers_(std::move(workers)), options_(options), contract_(std::move(contract)), is_program_(is_program) {}

  Result<backends::BufferId> allocate(std::size_t size) override { return workers_->allocate(size); }
  std::span<std::byte> bytes(backends::BufferId buffer) override { return workers_->bytes(buffer); }
  void reset() override;
  /// Each launch is one call of the function. Arrays are passed as dense tensors; an array of another layout is copied
  /// before and after the call. A launch without threads does nothing.
  ///
  /// A backward launch calls the function of the backward pass. If this gets an output of the specification, or a
  /// tensor that the forward function saves, the forward function runs first, in the same call of the worker, so that
  /// unrounded values are kept. Results that do not accumulate are added to the gradients afterwards.
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

 private:
  /// An array that is not dense, and its dense copy, which the host function gets.
  struct DenseCopy {
    ptx::ArrayView view;                     ///< the array that is copied
    std::vector<std::int64_t> byte_strides;  ///< strides of the copy, in bytes
    backends::BufferId buffer;               ///< memory that contains the copy
  };
  /// The parameters of a specification in one launch, in the form in which a host function gets them.
  struct Parameters {
    const Specification& specification;              ///< specification that has the parameters
    const SpecificationArguments& arguments;         ///< values of the parameters in the launch
    std::vector<CallArgument> values;                ///< arguments for the host function, by parameter
    std::vector<backends::BufferAddress> addresses;  ///< addresses of the arrays, by parameter
    /// Where to write unrounded values, by parameter; nullopt: not needed.
    std::vector<std::optional<backends::BufferAddress>> unrounded_addresses;
    std::vector<DenseCopy> dense_copies;  ///< copies of the arrays that are not dense
  };
  /// The arguments that the worker gets for one call.
  struct Call {
    CallKind kind = CallKind::kForward;   ///< function to call
    std::vector<CallArgument> arguments;  ///< arguments that the function receives, then its outputs
    /// Addresses of the arrays, each with its index in `arguments`.
    std::vector<std::pair<std::size_t, backends::BufferAddress>> array_addresses;
    /// Where to write unrounded values of arrays, each with its index in `arguments`.
    std::vector<std::pair<std::size_t, backends::BufferAddress>> unrounded_addresses;
    std::size_t given_count = 0;  ///< number of arguments before the outputs
    bool is_inferred = false;     ///< whether the received arguments are inferred, because no contract states them
    bool has_results = false;     ///< whether the contract states the outputs
    bool runs_own_data = false;   ///< whether to run a program first with the data that it creates itself
    std::vector<ProgramParameter> program_parameters;  ///< for a program: those of the outputs; otherwise empty

    void add(const Parameters& parameters, std::size_t p);
  };
  /// A result of the backward pass that is added to a gradient.
  struct GradientResult {
    std::size_t parameter;      ///< index of the gradient among the parameters
    backends::BufferId buffer;  ///< memory of the result, dense
  };

  backends::RunOutcome run_one(const backends::LaunchRequest& launch);
  backends::RunOutcome run_forward(const backends::LaunchRequest& launch, const Parameters& parameters);
  backends::RunOutcome run_program(const backends::LaunchRequest& launch, const Parameters& parameters);
  backends::RunOutcome run_backward(const backends::LaunchRequest& launch, Parameters& parameters);
  backends::RunOutcome run_calls(const backends::LaunchRequest& launch, std::span<const Call> calls);
  [[nodiscard]] Result<Call> forward_call(const Parameters& parameters) const;
  /// The tensors that the forward function returns and that are not outputs of the specification.
  [[nodiscard]] std::vector<std::string> saved_tensors(const Parameters& parameters) const;
  /// Whether the function of the backward pass gets something that the forward function computes.
  [[nodiscard]] bool needs_forward_function(const Parameters& parameters) const;
  Result<Parameters> place(const Specification& specification, const SpecificationArguments& arguments);
  /// Returns the address of the array, or of a new dense copy, which it appends to `copies`. `element`: bytes per
  /// element.
  Result<backends::BufferAddress> dense_address(const ptx::ArrayView& view, std::size_t element,
                                                std::vector<DenseCopy>& copies);
  void copy(const DenseCopy& dense, bool to_copy);
  /// Adds to the call the arguments that the contract's formulas state or, without formulas, the parameters with the
  /// indices in `inferred`.
  Result<void> add_given(Call& call, const Parameters& parameters, const std::vector<std::string>& formulas,
                         const std::vector<std::size_t>& inferred) const;
  /// Returns memory of at least this size from the memory with this number in `buffers`, which is allocated once.
  Result<backends::BufferId> reuse(std::vector<std::optional<backends::BufferId>>& buffers, std::size_t number,
                                   std::size_t size);
  /// Gives an array new memory that nothing has written, from the scratch memory with this number.
  Result<backends::BufferId> redirect(Parameters& parameters, std::size_t p, std::size_t number);
  Result<void> add_to_gradient(const Parameters& parameters, const GradientResult& result);

  std::unique_ptr<worker::WorkerSession> workers_;
  ptx::PtxOptions options_;                       ///< options of the interpreter
  CandidateContract contract_;                    ///< how to call the candidate's host function
  bool is_program_;                               ///< whether the candidate is a program with main()
  std::set<std::vector<std::int64_t>> own_runs_;  ///< arguments with which the program has run with its own data
  /// Memory to which the worker writes how a call ended; nullopt: not allocated yet.
  std::optional<backends::BufferId> report_buffer_;
  std::vector<std::optional<backends::BufferId>>
      scratch_buffers_;  ///< memory for results of the backward pass, reused by each launch
  std::vector<std::optional<backends::BufferId>> saved_buffers_;  ///< memory of the contract's saved arrays
};

}  // namespace assay::candidate
