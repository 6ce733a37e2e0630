// Asks a device what one instruction of PTX answers, operand by operand: an inline one in a kernel of CUDA C++.
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

class Probe {
 public:
  /// `instruction` takes one operand: "ex2.approx.ftz.f32", or with f64 one that reads and gives the upper word of a
  /// double. The device outlives the probe and takes CUDA C++. Fails when it does not build.
  static Result<Probe> make(backends::Device& device, std::string_view instruction);

  /// The answers' bit patterns, upper words of doubles. Fails when a launch does.
  Result<std::vector<std::uint32_t>> ask(std::span<const std::uint32_t> operands);

 private:
  Probe() = default;

  std::unique_ptr<backends::BuiltKernel> kernel_;
  std::unique_ptr<backends::Session> session_;
  backends::BufferId words_;
};

}  // namespace assay::harness
