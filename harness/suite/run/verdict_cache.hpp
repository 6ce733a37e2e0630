// Verdicts of earlier runs. What this very program has proved of this very kernel on this machine it need not prove
// again: judging draws its inputs from a seed and runs nothing that depends on time or chance.
//
// Kept are the records of a kernel all of whose cases pass. A failure is judged anew each time, and so is everything
// once any of this differs: the program's or a library's code, the compilers, the processor, the options, the kernel's
// file up to the kernel's end. Never used for a device whose results are not the same each time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/build_cache.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Thread-safe.
class VerdictCache {
 public:
  /// `directory` may be that of a build cache, with the same bound. `device` must outlive this; `environment` says what
  /// machine and compilers there are. Fails where the folder cannot be written, and where the program cannot be told
  /// from another build of it.
  static Result<std::unique_ptr<VerdictCache>> open(const std::filesystem::path& directory,
                                                    const backends::Device& device, const Environment& environment,
                                                    std::uint64_t max_bytes = std::uint64_t{1} << 30U);

  /// The records of the kernel's cases, in the order of `cases`, marked as CaseRecord::cached and without times; empty
  /// where there are none.
  [[nodiscard]] std::vector<CaseRecord> find(const KernelSource& source, std::span<const std::string> cases,
                                             const RunOptions& options);

  /// Keeps the records of a kernel if they are those of `cases` and all pass.
  void keep(const KernelSource& source, std::span<const std::string> cases, const RunOptions& options,
            std::span<const CaseRecord> records);

 private:
  VerdictCache(std::unique_ptr<backends::BuildCache> store, const backends::Device& device, std::string circumstances)
      : store_(std::move(store)), device_(device), circumstances_(std::move(circumstances)) {}

  [[nodiscard]] std::string key(const KernelSource& source, std::span<const std::string> cases,
                                const RunOptions& options) const;

  std::unique_ptr<backends::BuildCache> store_;
  const backends::Device& device_;
  std::string circumstances_;  ///< program, machine and compilers
};

}  // namespace assay::harness
