// A session that calls the host function of a candidate in a worker. Private to the device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/host/call.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/device/backend.hpp"
#include "backends/ptx/device.hpp"
#include "backends/worker/session.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// Opens the workers of candidates with host code. `folder` contains all libraries.
Result<std::unique_ptr<worker::WorkerSession>> open_host_workers(const backends::SessionLimits& limits,
                                                                 const std::filesystem::path& folder);

class HostCandidateSession final : public backends::DeviceSession {
 public:
  HostCandidateSession(std::unique_ptr<worker::WorkerSession> workers, const ptx::PtxOptions& options,
                       LaunchContract contract)
      : workers_(std::move(workers)), options_(options), contract_(std::move(contract)) {}

  Result<backends::BufferId> allocate(std::size_t size) override { return workers_->allocate(size); }
  std::span<std::byte> bytes(backends::BufferId buffer) override { return workers_->bytes(buffer); }
  void reset() override;
  /// Each launch is one call of the function. Arrays are passed as dense tensors; an array of another layout is copied
  /// before and after the call. A launch without threads does nothing.
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

 private:
  /// An array of another layout and its dense copy.
  struct DenseCopy {
    ptx::ArrayView view;                     ///< the array
    std::vector<std::int64_t> byte_strides;  ///< of the copy
    backends::BufferId buffer;               ///< memory of the copy
  };
  /// Arguments of the worker for one call.
  struct Call {
    std::vector<CallArgument> arguments;                                           ///< given ones, then the outputs
    std::vector<std::pair<std::size_t, backends::BufferAddress>> array_addresses;  ///< of the arrays among `arguments`
    std::size_t given_count = 0;
    std::vector<DenseCopy> dense_copies;
  };

  backends::RunOutcome run_one(const backends::LaunchRequest& launch);
  Result<Call> call_of(const Specification& specification, const SpecificationArguments& arguments);
  Result<backends::BufferAddress> dense_address(const ptx::ArrayView& view, std::size_t element, Call& call);
  void copy(const DenseCopy& dense, bool to_copy);

  std::unique_ptr<worker::WorkerSession> workers_;
  ptx::PtxOptions options_;
  LaunchContract contract_;
  std::optional<backends::BufferId> report_buffer_;  ///< memory for the outcome of a call
};

}  // namespace assay::candidate
