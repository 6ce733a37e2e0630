// Archives the cases of a run that a compiler of CUDA C++ translates incorrectly, with their reduced sources.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/compilers/cuda_reduction.hpp"
#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::compilers {

/// A case that is blamed on a compiler, and its folder:
///
///     reduced.cu           the reduced source
///     wrong.ptx, right.ptx the incorrect PTX of the compiler, and the PTX of a correct build
///     host.cu              runs the reduced source on a GPU
///     reproduce.sh         compiles the reduced source again; needs only NVRTC and Python
///     finding.json         compiler, target, inputs, results
struct CompilerFailure {
  harness::CaseRecord record;  ///< record of the case
  CudaReduction reduction;     ///< the reduced source and the evidence
  std::vector<std::string>
      failing_builds;  ///< the builds of the run in which the case fails: "NVRTC 13.0.88 compute_100"
  std::vector<std::string> passing_builds;  ///< the builds of the run in which the case passes
  std::filesystem::path folder;             ///< path of the folder
};

/// Reduces the first case of each kernel and pass in the records of `output` that is blamed on an NVRTC, each within
/// `time`, and writes its folder below output/compilers. `tell` gets a line for each case, also for those that cannot
/// be reduced. Fails if the records cannot be read or a folder cannot be written.
Result<std::vector<CompilerFailure>> archive_compiler_failures(const std::filesystem::path& output,
                                                               std::chrono::milliseconds time, unsigned jobs,
                                                               const std::function<void(const std::string&)>& tell);

/// The instructions, without types and operands, that the first PTX has less often than the second: "setp", "selp".
std::vector<std::string> missing_instructions(const std::string& incorrect_ptx, const std::string& correct_ptx);

/// The script that compiles reduced.cu again and compares the PTX with wrong.ptx.
std::string reproduction_script(const CudaReduction& reduction);

}  // namespace assay::compilers
