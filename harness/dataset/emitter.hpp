// Emitters: the code generators whose C++ and CUDA C++ a dataset contains.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/warp/generated_text.hpp"
#include "harness/dataset/row.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::dataset {

inline constexpr std::string_view kAssayEmitter = "assay";  ///< Assay's own printers
inline constexpr std::string_view kWarpEmitter = "warp";    ///< the code generator of the installed NVIDIA Warp

/// The names of all emitters.
std::vector<std::string> emitter_names();

/// The names of the devices that run the code of an emitter, in the order of the registry.
std::vector<std::string> devices_of_emitter(std::string_view emitter);
/// The devices that verify the code of an emitter unless the user chooses others: those that can run on this machine,
/// or the first one if none can.
std::vector<std::string> default_devices_of(std::string_view emitter);

/// Asks Warp for the code of kernels (warp::generate_sources).
using WarpCodegen = std::function<Result<std::vector<Result<warp::GeneratedSources>>>(
    std::span<const warp::GeneratedCodeRequest> requests)>;

/// The version of an emitter on this machine. Fails if Warp is not installed.
Result<std::string> version_of_emitter(std::string_view emitter);

/// The code generator of the installed Warp. Its calls fail if Warp is not installed.
WarpCodegen installed_warp();

/// The request for the code of a kernel. Its Python is printed from the parsed kernel, and is the row's Python unless
/// that was edited, so that Python executes only what Assay has printed.
Result<warp::GeneratedCodeRequest> warp_request(const harness::KernelSource& source);

/// Puts Warp's code into a row. The row of a kernel without gradients gets no backward functions.
void add_code(const warp::GeneratedSources& text, bool has_gradients, DatasetRow& row);

/// Prints no source, for rows that contain the code of Warp.
harness::PairPrinter no_printer();

}  // namespace assay::dataset
