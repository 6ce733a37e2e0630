// The folder of a failure: the kernel, the emitted code, the values, and a command that reproduces the failure.
//
//     failure.json             what failed, and the conditions (failure.hpp)
//     reproduce.sh             judges it again; exit status 0 if it fails in the same way
//     kernel.py                the Python text that was judged
//     kernel.cpp, kernel.cu    the code emitted for the device; kernel.ptx if NVRTC compiled it
//     kernel.json              inputs, expected and actual values of the failed launch (failure_values.hpp)
//     reduced.*                the same for the reduced kernel
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "backends/device/backend.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/reduce/failure.hpp"

namespace assay::reduce {

/// Evidence of a failing kernel: texts by file name extension, such as ".py".
using Evidence = std::map<std::string, std::string>;

/// Suffix of the name of an incomplete folder.
inline constexpr const char* kPartialFolderSuffix = ".partial";
/// Maximum size of an evidence file; larger files are left out.
inline constexpr std::size_t kMaxEvidenceFileBytes = std::size_t{4} << 20;

/// A judged case with its evidence.
struct JudgedFailure {
  harness::CaseRecord record;  ///< record of the case
  Evidence evidence;           ///< texts of the kernel and of the failed launch
  /// For a candidate, names and extents of the arrays of the launch in `evidence`, which is the smallest that was found
  /// to fail, such as "x 2 x 3, y 2".
  std::string failing_arrays;
};

/// Judges the case again and collects the evidence.
JudgedFailure judge_with_evidence(const harness::KernelSource& source, backends::Pass pass, backends::Device& device,
                                  const harness::Printer& printer, const harness::RunOptions& options);

/// The folder name for a case name: slashes become dots.
std::string folder_name(const std::string& case_name);

/// Creates or replaces the folder atomically. Fails with the path and the cause.
Result<void> write_failure_folder(const std::filesystem::path& folder, const Failure& failure, const Evidence& kernel,
                                  const std::optional<Evidence>& reduced);

/// The evidence in a folder for `stem` "kernel" or "reduced"; leaves out unreadable files.
Evidence read_evidence(const std::filesystem::path& folder, const std::string& stem);

}  // namespace assay::reduce
