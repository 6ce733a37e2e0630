// Golden tests of the parser: a kernel in Python and the expected text form of the module.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {

/// Multi-line texts start with a line break that is ignored.
struct Golden {
  std::string_view name;
  std::string_view above = "\n";  ///< text before the kernel
  std::string_view parameters;
  std::string_view body;
  std::string_view module;  ///< the whole module in the text form
};

inline void PrintTo(const Golden& golden, std::ostream* stream) { *stream << golden.name; }

inline std::string golden_name(const ::testing::TestParamInfo<Golden>& info) { return std::string(info.param.name); }

class GoldenKernelTest : public ::testing::TestWithParam<Golden> {};

}  // namespace assay::frontend::testing
