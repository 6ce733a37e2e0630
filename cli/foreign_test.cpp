// `assay validate --foreign` and `assay dataset import`: usage errors, and rows without a Python with Warp.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

constexpr const char* kMap = R"({"fields": {"python": "py", "cpp": "cpp"}})";

class ForeignDatasetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    workshop_.write("map.json", kMap);
    workshop_.write("rows.jsonl", R"({"py": "import warp as wp\n", "cpp": "int x;\n"})"
                                  "\n");
  }
  void expect_failure(const std::string& command, int status, const std::string& message) const {
    const CommandResult ran = workshop_.run(command);
    EXPECT_EQ(ran.status, status) << command << "\n" << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(message)) << command;
  }

  Workshop workshop_{ASSAY_PROGRAM};
};

TEST_F(ForeignDatasetTest, RejectsInvalidCommandLines) {
  expect_failure("assay validate", 2, "PATH or --foreign is required");
  expect_failure("assay validate --foreign rows.jsonl", 2, "--map");
  expect_failure("assay validate --map map.json", 2, "--foreign");
  expect_failure("assay validate rows --foreign rows.jsonl --map map.json", 2, "excludes");
  expect_failure("assay validate --foreign rows.jsonl --map map.json --device cpu", 2,
                 "--device must be a device that runs Warp's own code (warp-cpu, warp-ptx, warp-cuda), got 'cpu'");
  expect_failure("assay dataset import rows.jsonl --map missing.json --output out", 2, "missing.json");
  workshop_.write("bad.json", R"({"fields": {"python": "py"}})");
  expect_failure("assay dataset import rows.jsonl --map bad.json --output out", 2, "bad.json: /fields");
}

TEST_F(ForeignDatasetTest, ExitsWithStatus77IfWarpIsMissing) {
  workshop_.write("python", "#!/bin/sh\nexit 1\n");
  expect_failure("chmod +x python; ASSAY_WARP_PYTHON=$PWD/python assay validate --foreign rows.jsonl --map map.json",
                 77, "Python has no Warp");
}

}  // namespace
}  // namespace assay::cli
