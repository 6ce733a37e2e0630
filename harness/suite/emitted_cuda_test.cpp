// NVRTC compiles the output of `assay emit --to cuda` for random kernels, for targets of both of its code generators.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "generators/generator.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/select/random_kernels.hpp"

namespace assay::harness {
namespace {

using generators::Family;

constexpr std::size_t kKernelsOfAProgram = 24;
/// Kernels of each family; the remaining ones are compiled with little optimization, if NVRTC supports that.
constexpr int kOptimized = 48;

/// Kernels of each family. ASSAY_NVRTC_KERNELS overrides the number.
int kernels_of_a_family() {
  const char* asked = std::getenv("ASSAY_NVRTC_KERNELS");
  return asked == nullptr ? 2 : std::atoi(asked);
}

class EmittedCuda : public ::testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    if (!nvrtc_.ok()) GTEST_SKIP() << nvrtc_.error().text();
  }

  struct Emitted {
    std::string selector;
    std::string kernel;  ///< unique within a family
    std::string source;
    bool backward = false;
  };

  static std::vector<std::string> entries(const Emitted& emitted) {
    std::vector<std::string> names = {emitted.kernel + "_forward("};
    if (emitted.backward) names.push_back(emitted.kernel + "_backward(");
    return names;
  }

  void compile(const Emitted& emitted, const cuda::NvrtcOptions& options) {
    const cuda::CompileOutcome outcome = nvrtc_->compile(emitted.source, "kernel.cu", options);
    if (const auto* failed = std::get_if<backends::BuildFailed>(&outcome)) {
      ADD_FAILURE() << emitted.selector << " for " << options.architecture << ":\n"
                    << failed->log << "\n"
                    << emitted.source;
      return;
    }
    for (const std::string& entry : entries(emitted))
      EXPECT_NE(std::get<cuda::CompiledCode>(outcome).ptx.find(entry), std::string::npos) << emitted.selector;
  }

  /// Half of NVRTC's time for a kernel is start-up, so that many kernels share a program, each file in its own
  /// namespace. A program that does not compile is compiled file by file, to identify the faulty one.
  void compile(const std::vector<Emitted>& batch, bool fast_compile) {
    std::string source;
    for (std::size_t k = 0; k < batch.size(); ++k)
      source += "namespace file_" + std::to_string(k) + " {\n" + batch[k].source + "}\n";
    for (const char* architecture : {"compute_75", "compute_100"}) {
      const cuda::NvrtcOptions options{.architecture = architecture, .flags = {.fast_compile = fast_compile}};
      const cuda::CompileOutcome outcome = nvrtc_->compile(source, "kernels.cu", options);
      if (const auto* compiled = std::get_if<cuda::CompiledCode>(&outcome)) {
        for (const Emitted& emitted : batch) {
          for (const std::string& entry : entries(emitted))
            EXPECT_NE(compiled->ptx.find(entry), std::string::npos) << emitted.selector;
        }
        continue;
      }
      const int failures_before = ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
      for (const Emitted& emitted : batch)
        compile(emitted, options);
      EXPECT_GT(::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(), failures_before)
          << "compiled one by one, but not together:\n"
          << std::get<backends::BuildFailed>(outcome).log;
    }
  }

  Result<cuda::Nvrtc> nvrtc_ = cuda::Nvrtc::load();
};

TEST_P(EmittedCuda, CompilesWithNvrtc) {
  const int count = kernels_of_a_family();
  const auto start = std::chrono::steady_clock::now();
  int backward = 0;
  std::vector<Emitted> batch;
  for (int k = 0; k < count; ++k) {
    auto source = harness::random_kernel(GetParam(), 1 + static_cast<std::uint64_t>(k));
    ASSERT_TRUE(source.ok()) << source.error().text();
    LoadedKernel subject{.source = source.take(), .adjoint = std::nullopt};
    Result<transforms::AdjointModule> adjoint = transforms::make_adjoint(*subject.source.module, subject.kernel());
    ASSERT_TRUE(adjoint.ok()) << subject.source.selector << ": " << adjoint.error().text();
    if (!adjoint->gradient_parameters.empty()) subject.adjoint = adjoint.take();
    const auto emitted = emit_source(subject, backends::SourceTarget::kCuda);
    ASSERT_TRUE(emitted.ok()) << subject.source.selector << ": " << emitted.error().text();
    batch.push_back({.selector = subject.source.selector,
                     .kernel = std::string(subject.kernel().name),
                     .source = emitted->source(),
                     .backward = subject.adjoint.has_value()});
    backward += batch.back().backward;
    if (batch.size() == kKernelsOfAProgram || k + 1 == count) {
      compile(std::exchange(batch, {}), k >= kOptimized && nvrtc_->major_version() >= 13);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%d kernels, %d with a backward pass, for 2 targets: %.1f s\n", count, backward, took.count());
}

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (const generators::KernelFamilyDefinition& family : generators::families())
    all.push_back(family.family);
  return all;
}

std::string family_name(const ::testing::TestParamInfo<Family>& info) {
  return std::string(generators::row(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(Families, EmittedCuda, ::testing::ValuesIn(all_families()), family_name);

}  // namespace
}  // namespace assay::harness
