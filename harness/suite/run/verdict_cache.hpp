// Caches verdicts of earlier runs. The same program need not judge the same kernel on the same machine again: judging
// draws its inputs from a seed and is deterministic.
//
// The cache stores the records of a kernel if all of its cases pass. Failures are always judged again, and so is
// everything if any of the following differs: the code of the program or a library, the compilers, the processor, the
// options, or the kernel's file up to the end of the kernel. Not used for devices with nondeterministic results.
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

/// The passing records of earlier runs, in a folder. Thread-safe.
class VerdictCache {
 public:
  /// `directory` may be that of a build cache, with the same size limit. `device` must outlive this; `environment`
  /// describes the machine and the compilers. Fails if the folder cannot be written, or if the program has no build id.
  static Result<std::unique_ptr<VerdictCache>> open(const std::filesystem::path& directory,
                                                    const backends::Device& device, const RunEnvironment& environment,
                                                    std::uint64_t max_bytes = std::uint64_t{1} << 30U);

  /// The records of the kernel's cases, in the order of `cases`, marked as CaseRecord::is_cached and without times;
  /// empty if they are not in the cache.
  [[nodiscard]] std::vector<CaseRecord> find(const KernelSource& source, std::span<const std::string> cases,
                                             const RunOptions& options);

  /// Stores the records of a kernel if they are those of `cases` and all pass.
  void store(const KernelSource& source, std::span<const std::string> cases, const RunOptions& options,
             std::span<const CaseRecord> records);

 private:
  VerdictCache(std::unique_ptr<backends::BuildCache> storage, const backends::Device& device,
               std::string environment_key)
      : storage_(std::move(storage)), device_(device), environment_key_(std::move(environment_key)) {}

  /// The key under which the records of a kernel are stored.
  [[nodiscard]] std::string make_cache_key(const KernelSource& source, std::span<const std::string> cases,
                                           const RunOptions& options) const;

  std::unique_ptr<backends::BuildCache> storage_;  ///< the files of the cache
  const backends::Device& device_;                 ///< device that judged the kernels
  std::string environment_key_;                    ///< common part of all keys: program, machine and compilers
};

/// SHA-256 over the build ids of the program and of the libraries loaded at the first call; changes whenever any of
/// their code changes. Empty if one of them has no build id, and in the program that injects faults into its own judge.
[[nodiscard]] std::string program_identity();

}  // namespace assay::harness
