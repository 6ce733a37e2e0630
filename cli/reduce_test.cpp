// Follows failures from the run to the reduced kernel and its reproduce command. A wrapper of the compiler causes the
// failures: it edits its input.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Workshop;

constexpr std::string_view kLong = R"(import warp as wp


@wp.kernel
def long(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i] * 0.5
    b = wp.sqrt(a * a + 1.0)
    s = float(0.0)
    for j in range(n):
        if y[j] > 0.25:
            s += a * y[j]
        else:
            s -= b
    c = wp.sin(b * 0.75)
    d = wp.min(c, s)
    if d > 3.0:
        d = 3.0 - a
    out[i] = d * c + y[i]
)";

constexpr const char* kFolder = "out/failures/user.long.long.f32_i32.cpu.backward";
constexpr const char* kReproduce = "cd / && ASSAY_PROGRAM=\"$program\" sh \"$OLDPWD\"/";

class ReduceTest : public ::testing::Test {
 protected:
  ReduceTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("long.py", kLong);
    break_compiler("s/\\* cos\\(/* sin(/g");
  }

  /// Makes ./broken a compiler wrapper that edits its input with sed.
  void break_compiler(const std::string& edit) {
    workshop_.write("broken",
                    fmt::format("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'broken {0}'; exec c++ \"$1\"; fi\n"
                                "for f; do case $f in *.cpp) sed -i -E '{0}' \"$f\";; esac; done\n"
                                "exec c++ \"$@\"\n",
                                edit));
    fs::permissions(workshop_.path() / "broken", fs::perms::owner_all);
  }

  bool exists(const std::string& name) const { return fs::exists(workshop_.path() / name); }
  CommandResult reproduce(const std::string& folder) const {
    return workshop_.run(kReproduce + folder + "/reproduce.sh");
  }

  Workshop workshop_;
};

TEST_F(ReduceTest, RunArchivesFailureWithReducedKernelAndReproduceScript) {
  const CommandResult ran = workshop_.run("assay run long.py --quick --cxx ./broken --reduce 60");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("1 of 1 failures archived"), HasSubstr(fmt::format("{}/reproduce.sh", kFolder)),
                             HasSubstr("reduced from 12 statements to 1")));
  for (const char* const file : {"kernel.py", "kernel.cpp", "kernel.json", "reduced.py", "reduced.cpp", "reduced.json"})
    EXPECT_TRUE(exists(fmt::format("{}/{}", kFolder, file))) << file;
  EXPECT_EQ(workshop_.read(fmt::format("{}/kernel.py", kFolder)), kLong);
  EXPECT_THAT(workshop_.read(fmt::format("{}/reduced.py", kFolder)),
              AllOf(HasSubstr("wp.sin("), Not(HasSubstr("for "))));
  const json values = json::parse(workshop_.read(fmt::format("{}/reduced.json", kFolder)));
  EXPECT_THAT(values["compared"]["array"], "grad_x");
  EXPECT_FALSE(values["compared"]["differing"].empty());

  const CommandResult again = reproduce(kFolder);
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("reproduced: fail(mismatch) in grad_x"));
  EXPECT_EQ(workshop_.run(fmt::format("assay reproduce {} --original", kFolder)).status, 0);

  break_compiler("");
  const CommandResult mended = reproduce(kFolder);
  EXPECT_EQ(mended.status, 1) << mended.out;
  EXPECT_THAT(mended.out, HasSubstr("not reproduced"));
  ASSERT_EQ(workshop_.run("assay run long.py --quick --cxx ./broken").status, 0);
  EXPECT_FALSE(exists(kFolder)) << "a later run removes the failures of an earlier one";
}

TEST_F(ReduceTest, ArchivedFailureCanBeReproducedWithoutImportedModule) {
  workshop_.write("physics.py", "import warp as wp\n\n@wp.func\ndef pull(x: float):\n    return wp.sin(x)\n");
  workshop_.write("step.py",
                  "import warp as wp\nfrom physics import pull\n\n\n@wp.kernel\n"
                  "def step(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                  "    i = wp.tid()\n    out[i] = pull(x[i])\n");
  const CommandResult ran = workshop_.run("assay run step.py --quick --cxx ./broken");
  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::string folder = "out/failures/user.step.step.f32.cpu.backward";
  EXPECT_THAT(workshop_.read(folder + "/kernel.py"), AllOf(HasSubstr("def pull("), Not(HasSubstr("physics"))));
  fs::remove(workshop_.path() / "physics.py");
  const CommandResult again = reproduce(folder);
  EXPECT_EQ(again.status, 0) << again.out << again.err;
}

TEST_F(ReduceTest, ReduceCommandFindsFailingCaseAndPrintsReducedKernel) {
  const CommandResult ran = workshop_.run("assay reduce long.py:long --quick --cxx ./broken");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("backward ended as fail(mismatch) in grad_x"), HasSubstr("trials")));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("def long("), HasSubstr(kFolder)));
  EXPECT_EQ(reproduce(kFolder).status, 0);

  const CommandResult folder = workshop_.run(fmt::format("assay reduce {} --time-limit 20", kFolder));
  EXPECT_EQ(folder.status, 0) << folder.err;
  EXPECT_EQ(folder.out, ran.out) << "the same again, from the folder";
}

TEST_F(ReduceTest, ReductionPreservesBuildFailure) {
  break_compiler(
      "s/([a-z_]+) = minimum\\(/$1 = minimun(/g; s/minimum\\(c,/minimun(c,/g; s/[a-z]*min\\(c, s\\)/minimun(c, s)/g");
  const CommandResult ran = workshop_.run("assay reduce long.py:long --quick --cxx ./broken");
  ASSERT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("build_failed(build)"));
}

TEST_F(ReduceTest, ReduceOptionZeroArchivesThreeUnreducedFailuresOfSameClass) {
  std::string many = "import warp as wp\n";
  for (int k = 0; k < 5; ++k)
    many += fmt::format(
        "\n\n@wp.kernel\ndef k{}(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
        "    i = wp.tid()\n    out[i] = wp.sin(x[i])\n",
        k);
  workshop_.write("many.py", many);
  const CommandResult ran = workshop_.run("assay run many.py --quick --cxx ./broken --reduce 0");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("3 of 5 failures archived"), Not(HasSubstr("reduced from"))));
}

TEST_F(ReduceTest, ReduceAndReproduceCommandsRejectUnusableArguments) {
  const CommandResult passes = workshop_.run("assay reduce long.py:long --quick");
  EXPECT_EQ(passes.status, 1);
  EXPECT_THAT(passes.err, HasSubstr("nothing to reduce"));
  EXPECT_EQ(workshop_.run("assay reduce nowhere").status, 2);
  EXPECT_EQ(workshop_.run("assay reduce loop --quick").status, 2) << "several kernels";
  const CommandResult folder = workshop_.run("mkdir empty && assay reproduce empty");
  EXPECT_EQ(folder.status, 2);
  EXPECT_THAT(folder.err, HasSubstr("expected a failure folder"));
}

}  // namespace
}  // namespace assay::cli
