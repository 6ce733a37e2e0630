// Tests of the search for the first differing instruction, over sessions with scripted records.
#include "backends/cross_check/divergence.hpp"

#include <cstring>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::backends {
namespace {

using ::testing::HasSubstr;

/// Instruction 1 computes, 2 loads, 3 computes.
Result<InstrumentedCode> make_recording(const Artifact&, const std::string&, RecordingMode recording) {
  return InstrumentedCode{.content = recording == RecordingMode::kThreadDigests ? "digests" : "thread",
                          .instructions = {{10, 1, "add", false}, {11, 2, "ld", true}, {12, 3, "mul", false}}};
}

/// Writes the given records of each thread; the digest of a thread is the sum of its result bits.
class ScriptedSession final : public DeviceSession {
 public:
  using Script = std::map<std::uint64_t, std::vector<RecordedInstructionResult>>;
  explicit ScriptedSession(Script script, RunOutcome outcome = Completed{})
      : script_(std::move(script)), outcome_(std::move(outcome)) {}
  Result<BufferId> allocate(std::size_t size) override {
    buffers_.emplace_back(size);
    return BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
  }
  std::span<std::byte> bytes(BufferId buffer) override { return buffers_.at(buffer.index); }
  void reset() override { buffers_.clear(); }
  std::vector<RunOutcome> run(std::span<const LaunchRequest> launches) override {
    const LaunchRequest& launch = launches.front();
    const std::span<std::byte> to = bytes(launch.arguments.at(0).pointers.at(0).address.buffer);
    if (launch.kernel->artifact(Artifact::Kind::kPtx, Precision::kNative)->content == "digests") {
      for (const auto& [thread, records] : script_) {
        std::uint64_t digest = 0;
        for (const RecordedInstructionResult& record : records)
          digest += record.result_bits;
        std::memcpy(to.data() + thread * 8, &digest, 8);
      }
    } else {
      std::uint64_t thread = 0;
      std::memcpy(&thread, launch.arguments.at(1).bytes.data(), 8);
      const std::vector<RecordedInstructionResult>& records = script_[thread];
      std::memcpy(to.data(), records.data(), records.size() * sizeof(RecordedInstructionResult));
    }
    return {outcome_};
  }

 private:
  Script script_;
  RunOutcome outcome_;
  std::vector<std::vector<std::byte>> buffers_;
};

Result<std::optional<DifferingInstruction>> search(ScriptedSession here, ScriptedSession there) {
  const BuiltKernel kernel{.name = "k",
                           .entry_points = {{.symbol = "k_forward"}},
                           .artifacts = {std::make_shared<const Artifact>(Artifact{.kind = Artifact::Kind::kPtx})}};
  const LaunchRequest launch{.kernel = &kernel, .threads = 64};
  int refilled = 0;
  auto found = DifferingInstructionSearch(make_recording).find({here, there}, launch, [&] { ++refilled; });
  EXPECT_GT(refilled, 0);
  return found;
}

TEST(DifferenceSearch, ReportsFirstInstructionWithDifferentResults) {
  const auto found =
      search(ScriptedSession({{40, {{1, 5}, {2, 6}, {3, 7}}}}), ScriptedSession({{40, {{1, 5}, {2, 6}, {3, 8}}}}));
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->instruction.text, "mul");
  EXPECT_EQ((*found)->thread, 40U);
  EXPECT_EQ((*found)->device_result, 7U);
  EXPECT_EQ((*found)->cross_check_result, 8U);
}

TEST(DifferenceSearch, ReportsDifferingArithmeticInstructionRatherThanDifferingLoad) {
  const auto found = search(ScriptedSession({{3, {{1, 5}, {2, 6}}}, {9, {{1, 6}}}}),
                            ScriptedSession({{3, {{1, 5}, {2, 7}}}, {9, {{1, 7}}}}));
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->instruction.text, "add");
  EXPECT_EQ((*found)->thread, 9U);
  const auto loaded = search(ScriptedSession({{3, {{1, 5}, {2, 6}}}}), ScriptedSession({{3, {{1, 5}, {2, 7}}}}));
  ASSERT_TRUE(loaded.ok() && *loaded);
  EXPECT_EQ((*loaded)->instruction.text, "ld") << "a loaded difference is better than none";
}

TEST(DifferenceSearch, ReportsInstructionExecutedByOnlyOneDevice) {
  const auto found = search(ScriptedSession({{0, {{1, 5}, {3, 1}}}}), ScriptedSession({{0, {{1, 5}, {2, 9}}}}));
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->instruction.text, "mul");
  EXPECT_FALSE((*found)->cross_check_result.has_value());
  const auto ended = search(ScriptedSession({{0, {{1, 5}}}}), ScriptedSession({{0, {{1, 5}, {2, 9}}}}));
  ASSERT_TRUE(ended.ok() && *ended);
  EXPECT_EQ((*ended)->instruction.text, "ld");
  EXPECT_FALSE((*ended)->device_result.has_value());
}

TEST(DifferenceSearch, FindsNothingIfDevicesAgree) {
  const auto found = search(ScriptedSession({{0, {{1, 5}}}}), ScriptedSession({{0, {{1, 5}}}}));
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

TEST(DifferenceSearch, ReportsWhyLaunchCannotBeRepeated) {
  const auto found = search(ScriptedSession({}, TimedOut{std::chrono::milliseconds(5)}), ScriptedSession({}));
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().text(), HasSubstr("running the code that records instruction results failed: timed out"));
}

}  // namespace
}  // namespace assay::backends
