// Prints a kernel as the input of a device that runs NVIDIA Warp itself.
#pragma once

#include "backends/device/emitted_kernel.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source::warp {

/// Prints the kernel as Warp Python in both precisions, with the binding of its launches. With a backward pass, a
/// launch has a gradient array for each float array parameter, in the order of the parameters, or for each float field
/// of an array of structs. Parameters passed by value have none, because Warp drops their gradients.
///
/// Fails with the source location if a construct cannot be written in Warp Python.
Result<backends::EmittedKernel> emit(const ir::Module& module, const ir::Function& forward, bool has_backward);

}  // namespace assay::source::warp
