// Tests of rejections: a kernel in Python and the expected messages.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {

struct RejectionCase {
  std::string_view name;                                                                   ///< name of the test
  std::string_view above = "";                                                             ///< text before the kernel
  std::string_view parameters = "x: wp.array(dtype=float), n: int, a: float, v: wp.vec3";  ///< parameters of `k`
  std::string_view body;                                                                   ///< statements of the kernel
  std::string_view messages;  ///< expected messages, one on each line, without "test.py:"
};

inline void PrintTo(const RejectionCase& rejection, std::ostream* stream) { *stream << rejection.name; }

inline std::string rejection_name(const ::testing::TestParamInfo<RejectionCase>& info) {
  return std::string(info.param.name);
}

class RejectionTest : public ::testing::TestWithParam<RejectionCase> {};

}  // namespace assay::frontend::testing
