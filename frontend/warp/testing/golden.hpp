// Golden tests of the reader: a kernel in Python, the module's text form.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {

/// The multi-line texts start with a line break that does not count.
struct Golden {
  std::string_view name;
  std::string_view above = "\n";  ///< what stands before the kernel
  std::string_view parameters;
  std::string_view body;
  std::string_view module;  ///< the whole module in the text form
};

inline void PrintTo(const Golden& golden, std::ostream* stream) { *stream << golden.name; }

inline std::string golden_name(const ::testing::TestParamInfo<Golden>& info) { return std::string(info.param.name); }

class GoldenTest : public ::testing::TestWithParam<Golden> {};

}  // namespace assay::frontend::testing
