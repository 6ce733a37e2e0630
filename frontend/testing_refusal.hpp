// Tests of refusals: a kernel in Python, the messages about it.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "frontend/testing_read.hpp"

namespace assay::frontend::testing {

struct Refusal {
  std::string_view name;
  std::string_view above = "";  ///< what stands before the kernel
  std::string_view parameters = "x: wp.array(dtype=float), n: int, a: float, v: wp.vec3";
  std::string_view body;
  std::string_view messages;  ///< one a line, without "test.py:"
};

inline void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

inline std::string refusal_name(const ::testing::TestParamInfo<Refusal>& info) { return std::string(info.param.name); }

class RefusalTest : public ::testing::TestWithParam<Refusal> {};

}  // namespace assay::frontend::testing
