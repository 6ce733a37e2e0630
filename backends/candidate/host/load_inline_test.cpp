#include "backends/candidate/host/load_inline.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFile = R"py(import torch
from torch.utils.cpp_extension import load_inline

declaration = "torch::Tensor twice(torch::Tensor x);"

source = r'''
__global__ void kernel(float* x) { x[0] = '\n'; }
'''

module = load_inline(
    name="twice",
    cpp_sources=declaration,
    cuda_sources=[source, "// second\n" "// third"],
    functions=["twice"],
    extra_cuda_cflags=["-O3", "--use_fast_math", "-DN=4"],
)


class Model(torch.nn.Module):
    def forward(self, x):
        return module.twice(x)
)py";

TEST(LoadInline, ReadsSourcesFunctionsAndFlags) {
  const Result<HostSource> source = read_load_inline(kFile, "twice.py");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_THAT(source->text,
              AllOf(HasSubstr("#line 4 \"twice.py\"\ntorch::Tensor twice(torch::Tensor x);\n"),
                    HasSubstr("#line 6 \"twice.py\"\n\n__global__ void kernel(float* x) { x[0] = '\\n'; }"),
                    HasSubstr("// second\n// third\n"), HasSubstr("#include <torch/extension.h>")));
  EXPECT_THAT(source->functions, ElementsAre(HostFunction{"twice", "twice"}));
  EXPECT_THAT(source->flags, ElementsAre("--use_fast_math", "-DN=4"));
}

TEST(LoadInline, AcceptsPositionalArgumentsAndConcatenatedStrings) {
  const Result<HostSource> source =
      read_load_inline("a = 'int a;'\nload_inline('m', '', a + 'int b;', 'f')\n", "sum.py");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_THAT(source->text, AllOf(HasSubstr("int a;"), HasSubstr("int b;")));
  EXPECT_THAT(source->functions, ElementsAre(HostFunction{"f", "f"}));
}

TEST(LoadInline, AcceptsADictionaryOfArguments) {
  const Result<HostSource> source = read_load_inline(
      "options = {'name': 'm', 'cuda_sources': ['int a;'], 'functions': 'f'}\nload_inline(**options)\n", "m.py");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_THAT(source->text, HasSubstr("int a;"));
  EXPECT_THAT(source->functions, ElementsAre(HostFunction{"f", "f"}));
}

TEST(LoadInline, AcceptsCallsOfDedentAndStrip) {
  const Result<HostSource> source =
      read_load_inline("load_inline('m', textwrap.dedent('  int a; '), ' int b;'.strip(), ['f'])\n", "m.py");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_THAT(source->text, AllOf(HasSubstr("int a;"), HasSubstr("int b;")));
}

TEST(LoadInline, FindsTheFunctionsOfAPybindModule) {
  const Result<HostSource> source = read_load_inline(
      "load_inline('m', 'PYBIND11_MODULE(N, m) { m.def(\"forward\", &ops::run, \"runs\"); }', 'int a;')\n", "m.py");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_THAT(source->functions, ElementsAre(HostFunction{"forward", "ops::run"}));
}

TEST(PybindFunctions, AreFoundOnlyOutsideComments) {
  EXPECT_THAT(pybind_functions("// m.def(\"a\", &a);\n/* m.def(\"b\", &b); */ m.def( \"c\" ,\n d);\n"
                               "m.def(\"e\", [](int i) { return i; });\nm.def(\"f"),
              ElementsAre(HostFunction{"c", "d"}));
}

TEST(LoadInline, RejectsSourcesThatRequireExecutingTheFile) {
  const auto error = [](std::string_view python) {
    const Result<HostSource> source = read_load_inline(python, "m.py");
    return source.ok() ? std::string("no error") : source.error().text();
  };
  EXPECT_THAT(error("load_inline('m', '', open('k.cu').read(), ['f'])\n"),
              HasSubstr("m.py:1:22: 'open('k.cu').read(...)' cannot be read without executing the file"));
  EXPECT_THAT(error("load_inline('m', '', f'{x}', ['f'])\n"), HasSubstr("a formatted string"));
  EXPECT_THAT(error("load_inline('m', '', source, ['f'])\n"),
              HasSubstr("'source', to which the file assigns no string"));
  EXPECT_THAT(error("a = b\nb = a\nload_inline('m', '', a, ['f'])\n"), HasSubstr("refers to too many names"));
  EXPECT_THAT(error("import torch\n"), HasSubstr("does not call load_inline"));
  EXPECT_THAT(error("load_inline(\n"), HasSubstr("m.py:1:12: '(' is never closed"));
}

TEST(RelevantFlags, IncludeOnlyFlagsThatAffectSemantics) {
  EXPECT_THAT(relevant_flags({"-O3", "-use_fast_math", "-std=c++20", "-arch=sm_80", "-DX", "-lineinfo"}),
              AllOf(ElementsAre("--use_fast_math", "--std=c++20", "-DX"), Not(ElementsAre("-O3"))));
}

}  // namespace
}  // namespace assay::candidate
