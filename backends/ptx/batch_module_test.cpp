#include "backends/ptx/batch_module.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::ptx {
namespace {

using namespace backends;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kBatch = R"(// made by hand
.version 9.0
.target sm_75
.address_size 64

.func  (.param .b32 result) shared_sine
(
	.param .b32 shared_sine_param_0
)
;
.global .align 4 .b8 table[4] = {1, 2, 3, 4};
.global .align 4 .b8 other[4] = {1, 2, 3, 4};

.visible .entry assay_0_native_a_forward(
	.param .u64 assay_0_native_a_forward_param_0
)
{
	.reg .b32 	%r<2>;
	.loc	2 7 3
	{ // a block
	call.uni (result), 
	shared_sine, 
	(
	param0
	);
	}
	.loc	1 2 1, function_name $L__info_string0, inlined_at 2 8 5
	ret;
}
.func  (.param .b32 result) shared_sine(
	.param .b32 shared_sine_param_0
)
{
	mov.u64 	%rd1, table;
	ret;
}
	// .globl	assay_1_native_b_forward
.visible .entry assay_1_native_b_forward(
)
{
	mov.u64 	%rd1, other;
	ret;
}
	.file	1 "/folder/helper:sine"
	.file	2 "/folder/kernel:0:a"
	.section	.debug_str
{
$L__info_string0:
.b8 115,0
}
)";

EmittedKernel kernel_named(const std::string& name) {
  return {.name = name,
          .helpers = {{"array", "one\ntwo\n"}, {"sine", "three\nfour\n"}},
          .body = "",
          .entry_points = {{.pass = Pass::kForward, .symbol = name + "_forward", .parameter_types = {}}}};
}

std::string extract_kernel_module(const std::string& name, const std::string& symbol) {
  const std::vector<BuiltEntryPoint> entries{{.symbol = symbol}};
  return BatchModule(kBatch).extract_kernel_module(kernel_named(name), entries);
}

TEST(BatchModule, ExtractedModuleKeepsDeclarationsUsedByEntryPoint) {
  const std::string module = extract_kernel_module("a", "assay_0_native_a_forward");
  EXPECT_THAT(module, HasSubstr(".version 9.0"));
  EXPECT_THAT(module, HasSubstr("shared_sine_param_0"));
  EXPECT_THAT(module, HasSubstr("table[4]"));
  EXPECT_THAT(module, HasSubstr("$L__info_string0:"));
}

TEST(BatchModule, ExtractedModuleOmitsOtherKernelsAndTheirVariables) {
  EXPECT_THAT(extract_kernel_module("a", "assay_0_native_a_forward"), Not(HasSubstr("b_forward(")));
  EXPECT_THAT(extract_kernel_module("a", "assay_0_native_a_forward"), Not(HasSubstr("other[4]")));
  EXPECT_THAT(extract_kernel_module("b", "assay_1_native_b_forward"), Not(HasSubstr("shared_sine")));
}

TEST(BatchModule, ExtractedModuleHasNamesAndLineNumbersOfStandaloneSource) {
  const std::string module = extract_kernel_module("a", "assay_0_native_a_forward");
  EXPECT_THAT(module, HasSubstr(".visible .entry a_forward(\n\t.param .u64 a_forward_param_0\n"));
  EXPECT_THAT(module, HasSubstr(".loc\t1 7 3\n"));
  EXPECT_THAT(module, HasSubstr(".loc\t1 4 1, function_name $L__info_string0, inlined_at\t1 8 5\n"))
      << "line 2 of the helper 'sine' is line 4 of the source";
  EXPECT_THAT(module, HasSubstr(".file\t1 \"a.cu\"\n"));
  EXPECT_THAT(module, Not(HasSubstr("helper:")));
}

}  // namespace
}  // namespace assay::ptx
