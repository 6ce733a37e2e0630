#include "backends/candidate/source.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/candidate/host/kernel_names.hpp"

namespace assay::candidate {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CandidateSource, RemovesIncludesOfHeadersThatNvrtcDoesNotNeed) {
  const std::string source =
      for_nvrtc("#include <cuda_runtime.h>\n # include \"math.h\"\n#include <cub/cub.cuh>\nint x;", "a.cu", true);
  EXPECT_THAT(source, Not(HasSubstr("cuda_runtime.h")));
  EXPECT_THAT(source, EndsWith("#line 1 \"a.cu\"\n\n\n#include <cub/cub.cuh>\nint x;"));
}

TEST(CandidateSource, KeepsLinesThatAreNotIncludeDirectives) {
  EXPECT_THAT(for_nvrtc("#define include <math.h>\n// #include <math.h>\n#include math\n", "a.cu", true),
              EndsWith("#define include <math.h>\n// #include <math.h>\n#include math\n"));
}

TEST(CandidateSource, DeclaresMathConstantsWithoutTheToolkit) {
  const std::string_view source = "#include <math_constants.h>\nfloat x = CUDART_INF_F;";
  EXPECT_THAT(for_nvrtc(source, "a.cu", true), HasSubstr("#include <math_constants.h>"));
  EXPECT_THAT(for_nvrtc(source, "a.cu", false),
              AllOf(Not(HasSubstr("#include <math_constants.h>")), HasSubstr("#define CUDART_INF_F ")));
}

TEST(CandidateSource, ConvertsMangledKernelNamesToSourceNames) {
  EXPECT_EQ(plain_name("_Z4sumsPKfifPf"), "sums");
  EXPECT_EQ(plain_name("_Z6reduceIfEvPT_i"), "reduce<float>");
  EXPECT_EQ(plain_name("_ZN4mine7softmaxEPf"), "mine::softmax");
  EXPECT_EQ(plain_name("_ZN12_GLOBAL__N_17softmaxEPf"), "softmax");
  EXPECT_EQ(plain_name("_ZN42_INTERNAL_8e1f2d3c_12_candidate_cu_softmax7softmaxEPf"), "softmax");
  EXPECT_EQ(plain_name("_ZZ7softmaxPfE7partial"), "partial");
  EXPECT_EQ(plain_name("softmax"), "softmax");
  EXPECT_EQ(plain_name("x"), "x");
}

}  // namespace
}  // namespace assay::candidate
