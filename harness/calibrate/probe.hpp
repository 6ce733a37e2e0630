// Runs one PTX instruction on a device for given operands, as inline assembly in a CUDA C++ kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Runs one instruction on a device for many operands.
class InstructionProbe {
 public:
  /// `instruction` takes one operand, such as "ex2.approx.ftz.f32". An f64 instruction takes and returns the upper word
  /// of a double. The device must support CUDA C++ and outlive the probe. Fails if the kernel does not build.
  static Result<InstructionProbe> make(backends::Device& device, std::string_view instruction);

  /// The bit patterns of the results, for doubles their upper words. Fails if a launch fails.
  Result<std::vector<std::uint32_t>> compute_results(std::span<const std::uint32_t> operands);

 private:
  InstructionProbe() = default;

  std::unique_ptr<backends::BuiltKernel> kernel_;     ///< kernel that applies the instruction to each operand
  std::unique_ptr<backends::DeviceSession> session_;  ///< session on the device
  backends::BufferId word_buffer_;                    ///< buffer for the operands and then the results
};

}  // namespace assay::harness
