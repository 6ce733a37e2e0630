// What `assay emit --to cuda` writes of random kernels is taken by NVRTC, each file by itself, for targets that both of
// its code generators serve.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "cli/emission.hpp"
#include "generators/generator.hpp"
#include "harness/select/random_kernels.hpp"

namespace assay::cli {
namespace {

using generators::Family;

/// Of each family. ASSAY_NVRTC_KERNELS asks for another number.
int kernels_of_a_family() {
  const char* asked = std::getenv("ASSAY_NVRTC_KERNELS");
  return asked == nullptr ? 2 : std::atoi(asked);
}

class EmittedCuda : public ::testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    if (!nvrtc_.ok()) GTEST_SKIP() << nvrtc_.error().text();
  }

  /// No warning either, but for what a kernel does not use.
  void compile(const std::string& name, const std::string& source, const char* architecture) {
    const cuda::CompileOutcome outcome = nvrtc_->compile(source, "kernel.cu", {.architecture = architecture});
    const auto* failed = std::get_if<backends::BuildFailed>(&outcome);
    if (failed != nullptr) {
      ADD_FAILURE() << name << " for " << architecture << ":\n" << failed->log << "\n" << source;
      return;
    }
    const std::string& ptx = std::get<cuda::Compiled>(outcome).ptx;
    EXPECT_NE(ptx.find("_forward("), std::string::npos) << name;
    EXPECT_EQ(ptx.find("_backward(") != std::string::npos, source.find("_backward(") != std::string::npos) << name;
  }

  Result<cuda::Nvrtc> nvrtc_ = cuda::Nvrtc::load();
};

TEST_P(EmittedCuda, IsTakenByNvrtc) {
  const int count = kernels_of_a_family();
  const auto start = std::chrono::steady_clock::now();
  int backward = 0;
  // One by one: a family's thousand kernels need not be in memory at once.
  for (int k = 0; k < count; ++k) {
    auto sources = harness::random_kernels(GetParam(), 1 + static_cast<std::uint64_t>(k), 1);
    ASSERT_TRUE(sources.ok()) << sources.error().text();
    Subject subject{.source = std::move(sources->front()), .adjoint = std::nullopt};
    Result<passes::Adjoint> adjoint = passes::make_adjoint(*subject.source.module, subject.kernel());
    ASSERT_TRUE(adjoint.ok()) << subject.source.selector << ": " << adjoint.error().text();
    if (!adjoint->gradients.empty()) subject.adjoint = adjoint.take();
    backward += subject.adjoint.has_value();
    const auto emitted = emit_source(subject, backends::SourceTarget::kCuda);
    ASSERT_TRUE(emitted.ok()) << subject.source.selector << ": " << emitted.error().text();
    for (const char* architecture : {"compute_75", "compute_100"})
      compile(subject.source.selector, emitted->source(), architecture);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%d kernels, %d with a backward pass, for 2 targets: %.1f s\n", count, backward, took.count());
}

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (const generators::FamilyRow& family : generators::families())
    all.push_back(family.family);
  return all;
}

std::string family_name(const ::testing::TestParamInfo<Family>& info) {
  return std::string(generators::row(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(Families, EmittedCuda, ::testing::ValuesIn(all_families()), family_name);

}  // namespace
}  // namespace assay::cli
