// Tests the parser on PTX from NVRTC and on invalid text.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/parse/module.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  const Result<Module> module = parse(text, "t.ptx");
  return module ? "no error" : module.error().text();
}

TEST(PtxParser, SupportsEveryInstructionOfGoldenFiles) {
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/testdata/ptx/golden")) {
    if (file.path().extension() != ".ptx") continue;
    std::ifstream stream(file.path());
    std::stringstream text;
    text << stream.rdbuf();
    const Result<Module> parsed = parse(text.str(), file.path().filename().string());
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    const auto module = std::make_shared<const Module>(*parsed);
    for (const Function& function : module->functions) {
      for (const Instruction& instruction : function.instructions) {
        EXPECT_NE(instruction.opcode, Opcode::kUnsupported) << function.name << ": " << instruction.text;
      }
      if (!function.is_entry) continue;
      const auto kernel = lower(module, function.name);
      ASSERT_TRUE(kernel.ok()) << kernel.error().text();
      for (const Op& op : (*kernel)->ops) {
        EXPECT_NE(op.dispatch_kind, DispatchKind::kUnsupported) << op.instruction->text;
      }
    }
    ++files;
  }
  EXPECT_GE(files, 80U);
}

TEST(PtxParser, RecordsSourceLocationOfEachInstruction) {
  const Result<Module> module =
      parse(entry(".loc 1 7 3\n  add.rn.f32 %f1, %f2, 0f3F800000;\n.loc 1 2 1, function_name $L__i0, inlined_at 1 9 5\n"
                  "@!%p3 bra L;\nL:\n") +
                ".file 1 \"kernel.cu\"\n.section .debug_str\n{\n$L__i0:\n.b8 95,0\n}\n",
            "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_EQ(module->ptx_version, "9.0");
  EXPECT_EQ(module->target_architecture, "sm_75");
  EXPECT_EQ(module->file_names_by_number.at(1), "kernel.cu");
  const auto& instructions = module->find_entry("k")->instructions;
  ASSERT_EQ(instructions.size(), 3U);
  EXPECT_EQ(instructions[0].text, "add.rn.f32 %f1, %f2, 0f3F800000");
  EXPECT_EQ(instructions[0].position, (Position{10, 3}));
  EXPECT_EQ(instructions[0].debug_location.line, 7U);
  EXPECT_EQ(instructions[1].debug_location.inlined_call_line, 9U);
  EXPECT_TRUE(instructions[1].guard.is_negated);
  EXPECT_EQ(instructions[1].operands[0].index, 2U);
}

TEST(PtxParser, RegisterOfInnerScopeShadowsOuterRegister) {
  const Result<Module> module =
      parse(entry("{ .reg .pred %p1; setp.eq.u32 %p1, %r1, 0; } setp.eq.u32 %p1, %r1, 0;"), "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().text();
  const auto& instructions = module->find_entry("k")->instructions;
  EXPECT_NE(instructions[0].operands[0].index, instructions[1].operands[0].index);
}

TEST(PtxParser, LabelsAreLocalToTheirBraces) {
  const Result<Module> module = parse(entry("{ L: bra L; } { L: bra L; bra END; } END: ret;"), "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().text();
  const auto& instructions = module->find_entry("k")->instructions;
  EXPECT_EQ(instructions[0].operands[0].index, 0U);
  EXPECT_EQ(instructions[1].operands[0].index, 1U);
  EXPECT_EQ(instructions[2].operands[0].index, 3U);
}

TEST(PtxParser, MarksUnknownInstructionsAsUnsupported) {
  const Result<Module> module =
      parse(entry("istypep.texref %p1, %rd1;\nadd.rn.foo.f32 %f1, %f1, %f1;\nmov.u32 %r1, %smid;"), "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().text();
  const auto& instructions = module->find_entry("k")->instructions;
  EXPECT_EQ(instructions[0].unsupported_reason, "opcode istypep is not supported");
  EXPECT_EQ(instructions[1].unsupported_reason, "modifier .foo of add is not supported");
  EXPECT_EQ(instructions[2].unsupported_reason, "special register %smid is not supported");
  EXPECT_EQ(instructions[0].text, "istypep.texref %p1, %rd1");
}

TEST(PtxParser, ReportsLocationOfMalformedText) {
  EXPECT_EQ(error_of("hello"), "t.ptx:1:1: found 'hello', expected '.version'");
  EXPECT_EQ(error_of(".version 9.0\n.target sm_75\n.address_size 32\n"), "t.ptx:3:15: address size must be 64");
  EXPECT_EQ(error_of(entry("add.s32 %r1, %r2;")), "t.ptx:9:1: instruction add has 2 operands, expected 3");
  EXPECT_EQ(error_of(entry("add.s32 %r1, %r2, %rd3;")), "t.ptx:9:19: expected a register of 32 bits here");
  EXPECT_EQ(error_of(entry("add.s32 %r1, %r2, %q3;")), "t.ptx:9:19: found '%q3', expected a declared register");
  EXPECT_EQ(error_of(entry("bra NOWHERE;")), "t.ptx:9:5: found 'NOWHERE', expected a register, a variable or a label");
  EXPECT_EQ(error_of(entry("ld.global.f32 %f1, %rd1;")), "t.ptx:9:20: expected an address such as [%rd1+8] here");
  EXPECT_EQ(error_of(entry("ld.global.v2.f32 {%f1}, [%rd1];")), "t.ptx:9:18: expected a vector of 2 registers here");
  EXPECT_EQ(error_of(entry("@%r1 ret;")), "t.ptx:9:2: expected a predicate here");
  EXPECT_EQ(error_of(entry("mov.u32 %r1, 0x1ffffffffffffffff;")),
            "t.ptx:9:14: found '0x1ffffffffffffffff', expected a number of at most 64 bits");
  EXPECT_THAT(error_of(".version 9.0\n.global .b8 x[99999999999];"), HasSubstr("must not be larger than 4 GiB"));
  EXPECT_THAT(error_of(entry("add.s32 %r1, %r2, 1")), HasSubstr("found 'ret', expected ';'"));
  EXPECT_THAT(error_of(".version 9.0\n.visible .entry k()\n{"), HasSubstr("t.ptx:3:2: found the end of the text"));
}

/// Every prefix, and every text with one byte replaced, must be parsed or rejected without a crash.
TEST(PtxParser, DoesNotCrashOnMutatedText) {
  const std::string text = entry(
      ".shared .align 4 .b8 s[16]; ld.global.v2.f32 {%f1, %f2}, [%rd1+8]; @!%p1 bra L; L: {"
      " .reg .b32 t; mov.b64 {t, %r1}, %rd2; } call.uni (%r1), k, (%r2);");
  std::size_t rejected = 0;
  for (std::size_t length = 0; length < text.size(); ++length)
    rejected += parse(text.substr(0, length), "t.ptx").ok() ? 0 : 1;
  for (std::size_t position = 0; position < text.size(); ++position) {
    for (const char replacement : {';', '{', '}', '[', '%', '.', '0', '<', '"', '\xff'}) {
      std::string changed = text;
      changed[position] = replacement;
      rejected += parse(changed, "t.ptx").ok() ? 0 : 1;
    }
  }
  EXPECT_GT(rejected, text.size());
}

}  // namespace
}  // namespace assay::ptx
