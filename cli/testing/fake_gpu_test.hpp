// Base class of tests of the program with the fake driver that replaces libcuda.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/testing/command_runner.hpp"
#include "harness/records/record_reader.hpp"

namespace assay::cli::testing {

/// A test folder with one file of kernels and a fake GPU. Skips without NVRTC.
class FakeGpuTest : public ::testing::Test {
 protected:
  FakeGpuTest(const std::string& file, std::string_view text) : workshop_(ASSAY_PROGRAM) {
    workshop_.write(file, text);
    ::setenv("ASSAY_CUDA_DRIVER", ASSAY_FAKE_CUDA, 1);
    ::setenv("ASSAY_CUPTI", ASSAY_FAKE_CUDA, 1);
    ::unsetenv("ASSAY_FAKE_GPU");
  }
  ~FakeGpuTest() override {
    ::unsetenv("ASSAY_CUDA_DRIVER");
    ::unsetenv("ASSAY_CUPTI");
    ::unsetenv("ASSAY_FAKE_GPU");
  }
  void SetUp() override {
    if (workshop_.run("assay doctor --device cuda").status == 77) GTEST_SKIP() << "no NVRTC";
  }

  std::vector<harness::CaseRecord> cases() const {
    auto run = harness::read_records(workshop_.path() / "out");
    EXPECT_TRUE(run.ok()) << run.error().text();
    return run.take().cases;
  }

  Workshop workshop_;
};

}  // namespace assay::cli::testing
