// Inputs drawn for a kernel in Python, for tests of InputSpace.
#pragma once

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "harness/judge/inputs/input_space.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::harness::testing {

/// A kernel's oracle and input space.
class Space {
 public:
  explicit Space(const std::string& python, ArrayExtents array_extents = ArrayExtents::kSufficient)
      : source_(kernel_of(python)),
        oracle_(reference::Oracle::make(*source_.module, kernel()).take()),
        space_(InputSpace::make(*source_.module, kernel(), oracle_, array_extents).take()) {}

  const ir::Function& kernel() const { return source_.module->kernels[0]; }
  InputSpace& space() { return space_; }

  std::variant<ir::Launch, InputDrawFailure> draw(const DrawRequest& request) { return space_.draw(request); }

  /// A launch for the request. It must be found, and the kernel must be well defined for it.
  ir::Launch found(const DrawRequest& request) {
    auto drawn = draw(request);
    if (const auto* none = std::get_if<InputDrawFailure>(&drawn)) {
      throw std::runtime_error("seed " + std::to_string(request.seed) + ", size " + std::to_string(request.size) +
                               ": " + none->message);
    }
    const auto& launch = std::get<ir::Launch>(drawn);
    const reference::ReferenceResult run =
        oracle_.evaluate({.launch = launch, .uninitialized = space_.uninitialized()});
    for (const reference::Finding& finding : run.findings)
      ADD_FAILURE() << "seed " << request.seed << ": " << reference::describe(finding, *source_.module, kernel());
    EXPECT_TRUE(run.is_complete);
    return launch;
  }
  /// Launches of several sizes and distributions; all must be found.
  std::vector<ir::Launch> found_all() {
    std::vector<ir::Launch> launches;
    std::uint64_t seed = 3;
    for (const Distribution distribution :
         {Distribution::kUniform, Distribution::kNearBounds, Distribution::kWideMagnitudes}) {
      for (const std::int32_t size : {13, 32, 1, 31})
        launches.push_back(found({.seed = seed++, .distribution = distribution, .size = size}));
    }
    return launches;
  }
  InputDrawFailure none(std::uint64_t seed = 3) {
    auto drawn = draw({.seed = seed, .size = 13});
    if (auto* none = std::get_if<InputDrawFailure>(&drawn)) return std::move(*none);
    ADD_FAILURE() << "inputs were found";
    return {};
  }

  std::size_t parameter(const std::string& name) const {
    for (std::size_t p = 0; p < kernel().variables.size(); ++p) {
      if (kernel().variables[p].name == name) return p;
    }
    ADD_FAILURE() << "no parameter " << name;
    return 0;
  }
  std::vector<std::int64_t> integers(const ir::Launch& launch, const std::string& name) const {
    std::vector<std::int64_t> values;
    const ir::Argument& argument = launch.arguments[parameter(name)];
    for (std::int64_t e = 0; e < ir::element_count(argument); ++e) {
      for (const ir::ScalarComponent& component : ir::scalar_components(*source_.module, argument.type.element())) {
        if (ir::is_float(component.scalar)) continue;
        values.push_back(ir::read_integer(component.scalar,
                                          argument.bytes.data() + ir::element_offset(argument, e) + component.offset));
      }
    }
    return values;
  }
  std::vector<double> floats(const ir::Launch& launch, const std::string& name) const {
    std::vector<double> values;
    const ir::Argument& argument = launch.arguments[parameter(name)];
    for (std::int64_t e = 0; e < ir::element_count(argument); ++e) {
      for (const ir::ScalarComponent& component : ir::scalar_components(*source_.module, argument.type.element())) {
        if (!ir::is_float(component.scalar)) continue;
        values.push_back(ir::read_float(component.scalar,
                                        argument.bytes.data() + ir::element_offset(argument, e) + component.offset));
      }
    }
    return values;
  }
  const std::vector<std::int32_t>& shape(const ir::Launch& launch, const std::string& name) const {
    return launch.arguments[parameter(name)].shape;
  }

 private:
  KernelSource source_;
  reference::Oracle oracle_;
  InputSpace space_;
};

/// The number of different values.
inline std::size_t distinct(const std::vector<std::int64_t>& values) {
  return std::set<std::int64_t>(values.begin(), values.end()).size();
}

}  // namespace assay::harness::testing
