// Helpers for the tests of this folder: hand-written PTX and its launch.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx::testing {

/// A module with one entry "k" with parameters p0, p1, ... of type .u64, and 20 registers each of %r, %rd, %f, %fd, %rs
/// and %p.
inline std::string entry(std::string_view body, int parameters = 1, std::string_view before = "") {
  std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n" + std::string(before) + ".visible .entry k(";
  for (int i = 0; i < parameters; ++i)
    text += (i == 0 ? "\n  .param .u64 p" : ",\n  .param .u64 p") + std::to_string(i);
  text += "\n)\n{\n.reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>;";
  text += " .reg .f64 %fd<20>;\n";
  return text + std::string(body) + "\nret;\n}\n";
}

inline std::shared_ptr<const Kernel> kernel_of(const std::string& text, std::string_view name = "k") {
  Result<Module> module = parse(text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return nullptr;
  }
  auto kernel = lower(std::make_shared<const Module>(module.take()), name);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().text();
    return nullptr;
  }
  return kernel.take();
}

/// The result of running kernel "k" with one array of elements of type T as its only argument.
template <class T>
struct TestRun {
  RunResult result;
  std::vector<T> data;
};
template <class T>
TestRun<T> run(const std::string& text, std::vector<T> data, LaunchGeometry geometry = {{1}, {32}},
               LaunchOptions options = {}, AllocationFlags flags = {}) {
  Machine machine;
  const AllocationId id = machine.adopt("x", std::as_writable_bytes(std::span(data)), flags);
  KernelArguments arguments;
  arguments.add(machine.address(id));
  const auto kernel = kernel_of(text);
  if (kernel == nullptr) return {};
  RunResult result = machine.launch(kernel, geometry, arguments, options);
  return {std::move(result), std::move(data)};
}

inline void expect_clean(const RunResult& result) {
  EXPECT_TRUE(result.ok()) << result.message << (result.findings.empty() ? "" : describe(result.findings[0]));
}

inline void expect_first(const RunResult& result, CheckFinding::Kind kind) {
  ASSERT_FALSE(result.findings.empty()) << to_text(kind) << " expected. " << result.message;
  EXPECT_EQ(result.findings[0].kind, kind) << describe(result.findings[0]);
}

}  // namespace assay::ptx::testing
