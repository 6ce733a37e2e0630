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
  std::string_view name;          ///< name of the test
  std::string_view above = "\n";  ///< text before the kernel
  std::string_view parameters;    ///< parameter list of the kernel
  std::string_view body;          ///< statements of the kernel
  std::string_view module;        ///< expected text form of the whole module
};

inline void PrintTo(const Golden& golden, std::ostream* stream) { *stream << golden.name; }

inline std::string golden_name(const ::testing::TestParamInfo<Golden>& info) { return std::string(info.param.name); }

class GoldenKernelTest : public ::testing::TestWithParam<Golden> {};

}  // namespace assay::frontend::testing
