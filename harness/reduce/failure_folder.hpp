// The folder of a failure: the kernel, what it became, the values, and one command that reproduces it.
//
//     failure.json             what failed, and how it was judged (failure.hpp)
//     reproduce.sh             judges it again; exit status 0: it fails in the same way
//     kernel.py                the Python text that was judged
//     kernel.cpp, kernel.cu    what was emitted for the device; kernel.ptx where NVRTC made some
//     kernel.json              inputs, expected and actual values of the launch that failed (values.hpp)
//     reduced.*                the same of the reduced kernel
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "backends/device/backend.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/reduce/failure.hpp"

namespace assay::reduce {

/// What is known of one kernel that fails: texts by the ending of the file's name, ".py".
using Evidence = std::map<std::string, std::string>;

/// Ends the name of a folder that is being written.
inline constexpr const char* kPartial = ".partial";
/// A file larger than this is left out.
inline constexpr std::size_t kLargestFile = std::size_t{4} << 20;

/// A case judged, and what was found.
struct Examined {
  harness::CaseRecord record;
  Evidence evidence;
};

/// Judges the case of the kernel again, and keeps what there is to keep.
Examined examine(const harness::KernelSource& source, backends::Pass pass, backends::Device& device,
                 const harness::Printer& printer, const harness::RunOptions& options);

/// A case's name as that of one folder: dots for slashes.
std::string folder_name(const std::string& case_name);

/// Makes the folder, or replaces it: it is there as a whole or not at all. Fails with the path and the cause.
Result<void> put_folder(const std::filesystem::path& folder, const Failure& failure, const Evidence& kernel,
                        const std::optional<Evidence>& reduced);

/// The evidence that a folder holds on "kernel" or "reduced"; what cannot be read is left out.
Evidence read_evidence(const std::filesystem::path& folder, const std::string& stem);

}  // namespace assay::reduce
