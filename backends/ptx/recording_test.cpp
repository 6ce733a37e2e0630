// Tests that recording code computes the same results as the original, and records them without addresses.
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/artifacts.hpp"
#include "backends/ptx/execute/argument_text.hpp"
#include "backends/ptx/testing/golden_launches.hpp"
#include "backends/ptx/testing/machine.hpp"
#include "support/rng.hpp"

namespace assay::ptx {
namespace {

using backends::InstrumentedCode;
using backends::RecordedInstructionResult;
using backends::RecordingMode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

backends::Artifact ptx_artifact(std::string text) {
  return {.kind = backends::Artifact::Kind::kPtx, .architecture = {}, .path = {}, .content = std::move(text)};
}

/// The records of one thread of kernel "k", whose arguments are a number and an array of 64 floats 1, 2, 3, ...
std::vector<RecordedInstructionResult> records_of(const InstrumentedCode& code, std::int64_t thread,
                                                  LaunchGeometry geometry = {{2}, {16}}) {
  Machine machine;
  const AllocationId x = machine.allocate("x", 64 * sizeof(float)).value();
  for (std::size_t i = 0; i < 64; ++i) {
    const auto value = static_cast<float>(i + 1);
    std::memcpy(machine.bytes(x).data() + 4 * i, &value, sizeof(value));
  }
  const AllocationId to = machine.allocate("records", 64 * sizeof(RecordedInstructionResult)).value();
  KernelArguments arguments;
  arguments.add(std::int64_t{32}).add(machine.address(x)).add(machine.address(to)).add(thread);
  const auto kernel = testing::kernel_of(code.content);
  if (kernel == nullptr) return {};
  const RunResult result = machine.launch(kernel, geometry, arguments, {.checks = EnabledChecks::none()});
  EXPECT_TRUE(result.ok()) << result.message;
  std::vector<RecordedInstructionResult> records(64);
  std::memcpy(records.data(), machine.bytes(to).data(), 64 * sizeof(RecordedInstructionResult));
  while (!records.empty() && records.back() == RecordedInstructionResult{})
    records.pop_back();
  return records;
}

TEST(InstructionRecording, RecordsResultsOfOneThreadInOrder) {
  const std::string text = testing::entry(R"(
ld.param.u64 %rd1, [p1];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
setp.gt.f32 %p1, %f1, 3.0;
@%p1 add.rn.f32 %f2, %f1, %f1;
@!%p1 mov.f32 %f2, 0f3F800000;
st.global.f32 [%rd3+128], %f2;)",
                                          2);
  const auto code = make_recording_code(ptx_artifact(text), "k", RecordingMode::kResultsOfOneThread);
  ASSERT_TRUE(code.ok()) << code.error().text();
  std::vector<std::string> texts;
  for (const backends::RecordedInstruction& instruction : code->instructions)
    texts.push_back(instruction.text);
  EXPECT_THAT(texts, ElementsAre("mov.u32 %r1, %tid.x", "mul.wide.u32 %rd2, %r1, 4", "ld.global.f32 %f1, [%rd3]",
                                 "setp.gt.f32 %p1, %f1, 3.0", "add.rn.f32 %f2, %f1, %f1", "mov.f32 %f2, 0f3F800000"))
      << "addresses are not recorded";
  EXPECT_TRUE(code->instructions[2].reads_memory_or_other_threads);
  EXPECT_FALSE(code->instructions[4].reads_memory_or_other_threads);
  EXPECT_EQ(code->instructions[4].code_line, 17U);
  // Thread 21 is number 5 of the second block: x[5] = 6. An instruction with a false guard records 0.
  EXPECT_THAT(records_of(*code, 21),
              ElementsAre(RecordedInstructionResult{1, 5}, RecordedInstructionResult{2, 20},
                          RecordedInstructionResult{3, 0x40C00000}, RecordedInstructionResult{4, 1},
                          RecordedInstructionResult{5, 0x41400000}, RecordedInstructionResult{6, 0}));
  EXPECT_THAT(records_of(*code, 1),
              ElementsAre(RecordedInstructionResult{1, 1}, RecordedInstructionResult{2, 4},
                          RecordedInstructionResult{3, 0x40000000}, RecordedInstructionResult{4, 0},
                          RecordedInstructionResult{5, 0}, RecordedInstructionResult{6, 0x3F800000}));
  EXPECT_TRUE(records_of(*code, 32).empty()) << "the grid has fewer threads";
}

TEST(InstructionRecording, ReportsWhyRecordingIsImpossible) {
  EXPECT_THAT(make_recording_code(ptx_artifact("nonsense"), "k", RecordingMode::kResultsOfOneThread).error().text(),
              HasSubstr("k.ptx:1:1"));
  EXPECT_THAT(
      make_recording_code(ptx_artifact(testing::entry("")), "other", RecordingMode::kResultsOfOneThread).error().text(),
      HasSubstr("no entry point 'other'"));
  EXPECT_FALSE(make_recording_code(ptx_artifact(testing::entry("", 0)), "k", RecordingMode::kResultsOfOneThread).ok())
      << "an entry without parameters cannot be extended";
}

/// The bytes that a golden launch leaves in memory, and the digests if it records. Padding before its memory can change
/// all addresses.
struct Left {
  std::vector<std::byte> memory;
  std::vector<std::uint64_t> digests;
};

Left run_golden(const testing::GoldenLaunch& launch, const std::string& text, const std::string& symbol, bool backward,
                bool records, bool elsewhere) {
  constexpr LaunchGeometry kGeometry{{2}, {64}};
  constexpr std::size_t kThreads = 2 * 64;
  Machine machine;
  if (elsewhere) static_cast<void>(machine.allocate("other", 64));
  KernelArguments arguments;
  arguments.add(77LL);
  std::vector<AllocationId> memory;
  Rng random(7);
  std::vector<std::string> texts = launch.arguments;
  if (backward) texts.insert(texts.end(), launch.gradients.begin(), launch.gradients.end());
  for (const std::string& argument : texts) {
    const auto added = add_argument(machine, arguments, "argument", argument, random);
    EXPECT_TRUE(added.ok()) << added.error().text();
    if (added->allocation) memory.push_back(*added->allocation);
  }
  const AllocationId digests = machine.allocate("records", kThreads * 8).value();
  if (records) arguments.add(machine.address(digests)).add(std::int64_t{0});
  const auto kernel = testing::kernel_of(text, symbol);
  if (kernel == nullptr) return {};
  const RunResult result = machine.launch(kernel, kGeometry, arguments, {.checks = EnabledChecks::none()});
  EXPECT_TRUE(result.ok()) << symbol << ": " << result.message;
  Left left{.memory = {}, .digests = std::vector<std::uint64_t>(kThreads)};
  for (const AllocationId id : memory)
    left.memory.insert(left.memory.end(), machine.bytes(id).begin(), machine.bytes(id).end());
  std::memcpy(left.digests.data(), machine.bytes(digests).data(), kThreads * 8);
  return left;
}

TEST(InstructionRecording, RecordingPreservesKernelResultsAndOmitsAddresses) {
  std::size_t entries = 0;
  for (const testing::GoldenLaunch& launch : testing::golden_launches()) {
    for (const bool backward : {false, true}) {
      if (backward && launch.gradients.empty()) continue;
      const std::string text = testing::golden_ptx(launch, launch.targets.front());
      const std::string symbol = fmt::format("{}_{}", launch.kernel, backward ? "backward" : "forward");
      const auto code = make_recording_code(ptx_artifact(text), symbol, RecordingMode::kThreadDigests);
      ASSERT_TRUE(code.ok()) << symbol << ": " << code.error().text();
      EXPECT_FALSE(code->instructions.empty());
      const Left plain = run_golden(launch, text, symbol, backward, false, false);
      const Left recorded = run_golden(launch, code->content, symbol, backward, true, false);
      const Left elsewhere = run_golden(launch, code->content, symbol, backward, true, true);
      EXPECT_EQ(plain.memory, recorded.memory) << symbol;
      EXPECT_EQ(recorded.digests, elsewhere.digests) << symbol;
      EXPECT_NE(recorded.digests.front(), recorded.digests.at(1)) << symbol << ": threads compute different values";
      ++entries;
    }
  }
  EXPECT_GE(entries, 100U);
}

}  // namespace
}  // namespace assay::ptx
