// Which text of a kernel Warp gets: the user's own, or text that Assay printed. Skipped without Warp.
#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

constexpr const char* kHeader = "import warp as wp\n\n\n";

class WarpTextTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    workshop_.write("probe.py", std::string(kHeader) +
                                    "@wp.kernel\ndef probe(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                                    "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
    made_ = workshop_.run(kRun + "probe.py");
  }
  void SetUp() override {
    if (made_.status == 77) GTEST_SKIP() << made_.out;
    ASSERT_EQ(made_.status, 0) << made_.out << made_.err;
  }

  /// Judges the kernels of a file; returns the records of their cases by kernel and pass: "user.step/backward".
  static std::map<std::string, json> judge(const std::string& text) {
    workshop_.write("user.py", text);
    const CommandResult ran = workshop_.run(kRun + "user.py");
    EXPECT_LE(ran.status, 1) << ran.out << ran.err;
    std::map<std::string, json> records;
    const std::string lines = workshop_.read("out/records.jsonl");
    for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
      json line = json::parse(lines.substr(at, lines.find('\n', at) - at));
      if (line.at("record") == "case")
        records[line.at("kernel").get<std::string>() + "/" + line.at("pass").get<std::string>()] = line;
    }
    return records;
  }
  static std::string verdict(const json& record) {
    return record.at("outcome").get<std::string>() + "(" + record.at("kind").get<std::string>() +
           "): " + record.at("message").get<std::string>();
  }

  inline static const std::string kRun =
      "XDG_CACHE_HOME=$PWD/cache assay run --quick --fresh --reduce 0 --blame 0 --device warp-cpu --output out ";
  inline static const Workshop workshop_{ASSAY_PROGRAM};
  inline static CommandResult made_;
};

// Assay prints this update as another statement, whose gradient is correct in Warp. Warp doubles the gradient of the
// translation of `t` in the user's form: testdata/warp_findings.
TEST_F(WarpTextTest, ReportsIncorrectGradientThatOnlyTheUsersTextHas) {
  const auto records = judge(std::string(kHeader) +
                             "@wp.kernel\n"
                             "def shift(x: wp.array(dtype=wp.transform), e: wp.array(dtype=wp.vec3),\n"
                             "          out: wp.array(dtype=wp.transform)):\n"
                             "    i = wp.tid()\n"
                             "    t = x[i]\n"
                             "    t.p += e[i]\n"
                             "    out[i] = t\n");
  const json& backward = records.at("user.shift/backward");
  EXPECT_EQ(backward.at("outcome"), "fail") << verdict(backward);
  EXPECT_THAT(backward.at("kind").get<std::string>(), AnyOf("wrong_gradient", "convention")) << verdict(backward);
  EXPECT_THAT(backward.at("message").get<std::string>(), HasSubstr("finite differences of the forward pass"));
  EXPECT_EQ(backward.at("text"), json({{"own", true}}));
  EXPECT_EQ(records.at("user.shift/forward").at("outcome"), "pass") << verdict(records.at("user.shift/forward"));
  std::string run = kRun;
  run.replace(run.find("--reduce 0"), 10, "--reduce 2");
  const CommandResult reduced = workshop_.run(run + "user.py");
  EXPECT_THAT(reduced.out + reduced.err, HasSubstr("is not reproducible with the kernel as Assay prints it"));
}

TEST_F(WarpTextTest, JudgesDefinitionsWithoutRunningOtherCodeOfTheFile) {
  const auto records = judge(
      "import numpy as np\nimport warp as wp\n\nopen(\"ran\", \"w\").close()\nFACTOR = wp.constant(2.0 * np.pi)\n\n\n"
      "@wp.struct\nclass Body:\n    position: wp.array(dtype=wp.vec3)\n    mass: float\n\n\n"
      "@wp.func\ndef energy(v: wp.vec3, mass: float) -> float:\n    return FACTOR * mass * wp.dot(v, v)\n\n\n"
      "@wp.kernel\ndef step(body: Body, out: wp.array(dtype=float)):\n    i = wp.tid()\n"
      "    out[i] = energy(body.position[i], body.mass)\n\n\nopen(\"ran\", \"w\").close()\n");
  for (const char* pass : {"user.step/forward", "user.step/backward"}) {
    EXPECT_EQ(records.at(pass).at("outcome"), "pass") << verdict(records.at(pass));
    EXPECT_EQ(records.at(pass).at("text"), json({{"own", true}}));
  }
  EXPECT_FALSE(std::filesystem::exists(workshop_.path() / "ran"));
}

TEST_F(WarpTextTest, JudgesUsersTextWithSubscriptedArraysAndCombinedFlags) {
  const auto records = judge(
      "import enum\n\nimport warp as wp\n\n\n"
      "class Mode(enum.IntFlag):\n    A = 1\n    B = 2\n    BOTH = A | B\n\n\n"
      "@wp.kernel\ndef scale(x: wp.array[float], out: wp.array[float]):\n    i = wp.tid()\n"
      "    out[i] = x[i] * float(int(Mode.BOTH))\n");
  for (const char* pass : {"user.scale/forward", "user.scale/backward"}) {
    EXPECT_EQ(records.at(pass).at("outcome"), "pass") << verdict(records.at(pass));
    EXPECT_EQ(records.at(pass).at("text"), json({{"own", true}})) << records.at(pass).at("text");
  }
}

TEST_F(WarpTextTest, PassesStructInsideStructWithArrays) {
  const auto records = judge(
      "import warp as wp\n\n\n@wp.struct\nclass Inner:\n    a: float\n    v: wp.vec3\n\n\n"
      "@wp.struct\nclass Outer:\n    inner: Inner\n    x: wp.array(dtype=float)\n\n\n"
      "@wp.kernel\ndef scale(p: Outer, out: wp.array(dtype=float)):\n    i = wp.tid()\n"
      "    out[i] = p.x[i] * p.inner.a + p.inner.v[1]\n");
  for (const char* pass : {"user.scale/forward", "user.scale/backward"})
    EXPECT_EQ(records.at(pass).at("outcome"), "pass") << verdict(records.at(pass));
}

TEST_F(WarpTextTest, StatesWhyTheUsersTextIsNotJudged) {
  workshop_.write("settings.py", "LIMIT = 2.0\n");
  const auto records = judge(
      "import warp as wp\nfrom settings import LIMIT\n\n\ndef make(k: float):\n    @wp.kernel\n"
      "    def inner(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n        i = wp.tid()\n"
      "        out[i] = k * x[i]\n\n    return inner\n\n\ninner = make(3.0)\n\n\n"
      "@wp.kernel\ndef limited(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n    i = wp.tid()\n"
      "    out[i] = LIMIT * x[i]\n");
  for (const auto& [kernel, reason] : {std::pair("inner", "the kernel is not defined at the top level of the file"),
                                       std::pair("limited", "the kernel uses names from other files")}) {
    const json& record = records.at(std::string("user.") + kernel + "/backward");
    EXPECT_EQ(record.at("outcome"), "pass") << verdict(record);
    EXPECT_EQ(record.at("text"), json({{"own", false}, {"reason", reason}}));
  }
}

TEST_F(WarpTextTest, BackwardPassIsUnsupportedIfTheFileDisablesIt) {
  const auto records = judge(std::string(kHeader) +
                             "@wp.kernel(enable_backward=False)\n"
                             "def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                             "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
  EXPECT_EQ(records.at("user.scale/forward").at("outcome"), "pass") << verdict(records.at("user.scale/forward"));
  const json& backward = records.at("user.scale/backward");
  EXPECT_EQ(backward.at("outcome"), "unsupported") << verdict(backward);
  EXPECT_THAT(backward.at("message").get<std::string>(), HasSubstr("enable_backward=False"));
}

/// Warp gets the gradient of the tiles of this kernel right, and that of the local arrays that Assay prints wrong.
constexpr const char* kTilesOfVectors =
    "@wp.kernel\ndef moved(x: wp.array2d(dtype=wp.vec2), out: wp.array2d(dtype=wp.vec2)):\n    i = wp.tid()\n"
    "    t = wp.tile_load(x, shape=(1, SIZE), offset=(i, 0))\n    wp.tile_fft(t)\n"
    "    wp.tile_store(out, t * 0.125, offset=(i, 0))\n";

TEST_F(WarpTextTest, RunsTilesThatAssayPrintsAsLocalArrays) {
  const auto records = judge(std::string("import warp as wp\n\nSIZE = wp.constant(4)\n\n\n") + kTilesOfVectors);
  const json& backward = records.at("user.moved/backward");
  EXPECT_EQ(backward.at("outcome"), "pass") << verdict(backward);
  EXPECT_EQ(backward.at("text"), json({{"own", true}}));
}

TEST_F(WarpTextTest, PrintedLocalArraysInPlaceOfTilesAreInconclusive) {
  workshop_.write("settings.py", "SIZE = 4\n");
  const auto records = judge(std::string("import warp as wp\nfrom settings import SIZE\n\n\n") + kTilesOfVectors);
  const json& backward = records.at("user.moved/backward");
  EXPECT_EQ(backward.at("outcome"), "inconclusive") << verdict(backward);
  EXPECT_EQ(backward.at("kind"), "replaced_tiles") << verdict(backward);
  EXPECT_THAT(backward.at("message").get<std::string>(), HasSubstr("did not run the kernel's own tiles"));
}

}  // namespace
}  // namespace assay::cli
