// Kernels written by hand, in the form that the printer gives them, for the tests of this folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backends/cpu/device.hpp"
#include "backends/device/backend.hpp"

namespace assay::cpu::testing {

/// A kernel `name` whose forward entry takes (Array<real, 1> x, real a) and executes `statement` for each thread i.
backends::EmittedKernel kernel_of(const std::string& name, const std::string& statement);

/// x[i] = a * x[i] + 1/3 forward, x[i] = a backward.
backends::EmittedKernel scale_kernel(const std::string& name);

/// A device with a cache of its own in `directory`, and assay-worker as its worker.
CpuOptions options_in(const std::filesystem::path& directory);

/// The kernel of a build that must have succeeded; a failure ends the test with its log.
backends::BuiltKernel require_built(const backends::BuildOutcome& outcome);

/// A directory that goes with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::cpu::testing
