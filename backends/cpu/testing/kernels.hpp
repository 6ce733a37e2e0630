// Hand-written kernels in the form that the printer produces, for the tests of this folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backends/cpu/device.hpp"
#include "backends/device/backend.hpp"
#include "support/testing/temporary_directory.hpp"

namespace assay::cpu::testing {

/// A kernel `name` whose forward entry takes (Array<real, 1> x, real a) and executes `statement` for each thread i.
backends::EmittedKernel kernel_of(const std::string& name, const std::string& statement);

/// x[i] = a * x[i] + 1/3 forward, x[i] = a backward.
backends::EmittedKernel scale_kernel(const std::string& name);

/// A device with its own cache in `directory` and assay-worker as its worker.
CpuOptions options_in(const std::filesystem::path& directory);

/// The built kernel; throws with the compiler log if the build failed.
backends::BuiltKernel require_built(const backends::BuildOutcome& outcome);

}  // namespace assay::cpu::testing
