// A session with host buffers. Launches run on a machine that can access only the regions of the arguments, each as its
// own allocation. Private to the device.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/ptx/device.hpp"

namespace assay::ptx {

class PtxSession final : public backends::Session {
 public:
  PtxSession(const backends::SessionLimits& limits, const PtxOptions& options);

  Result<backends::BufferId> allocate(std::size_t size) override;
  std::span<std::byte> bytes(backends::BufferId buffer) override;
  void reset() override;
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

 private:
  struct FreeAligned {
    void operator()(std::byte* pointer) const;
  };
  struct Buffer {
    std::unique_ptr<std::byte[], FreeAligned> memory;
    std::size_t size = 0;
  };

  backends::RunOutcome run_one(const backends::LaunchRequest& launch);
  Result<std::shared_ptr<const Kernel>> kernel_of(const std::shared_ptr<const backends::Artifact>& artifact,
                                                  const std::string& symbol);
  Result<KernelArguments> arguments_of(const backends::LaunchRequest& launch);
  Result<std::uint64_t> address_of(const backends::KernelArgument::Pointer& pointer);

  backends::SessionLimits limits_;
  PtxOptions options_;
  Machine machine_;
  std::size_t used_ = 0;
  std::vector<Buffer> buffers_;
  std::map<std::pair<const std::byte*, std::size_t>, AllocationId> regions_;  ///< of the current launch
  std::map<std::shared_ptr<const backends::Artifact>, std::shared_ptr<const Module>> modules_;
  std::map<std::pair<const Module*, std::string>, std::shared_ptr<const Kernel>> kernels_;
};

}  // namespace assay::ptx
