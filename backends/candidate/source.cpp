#include "backends/candidate/source.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace assay::candidate {
namespace {

constexpr std::array<std::string_view, 18> kBuiltInHeaders{
    "assert.h", "cassert", "cuda.h",  "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h",
    "math.h",   "cmath",   "stdio.h", "cstdio",         "stdlib.h",           "cstdlib",
    "stdint.h", "cstdint", "float.h", "cfloat",         "limits.h",           "climits"};
/// A header of the CUDA Toolkit without which sources can be compiled, too.
constexpr std::string_view kMathConstantsHeader = "math_constants.h";
/// The most used macros of this header.
constexpr std::string_view kMathConstants = R"(#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_MAX_NORMAL_F __int_as_float(0x7f7fffff)
#define CUDART_PI_F 3.141592654f
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN __longlong_as_double(0xfff8000000000000ll)
#define CUDART_PI 3.1415926535897931e+0
)";

/// What these headers declare and NVRTC does not.
constexpr std::string_view kDeclarations = R"(typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#define M_E 2.718281828459045235
#define M_LN2 0.693147180559945309
#define M_LOG2E 1.442695040888963407
#define M_PI 3.141592653589793238
#define M_SQRT2 1.414213562373095049
#define M_SQRT1_2 0.707106781186547524
#define M_2_SQRTPI 1.128379167095512574
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
)";

/// The name between <> or "" of an #include; empty for another line.
std::string_view included(std::string_view line) {
  const auto skip_spaces = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_spaces();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip_spaces();
  constexpr std::string_view kInclude = "include";
  if (!line.starts_with(kInclude)) return {};
  line.remove_prefix(kInclude.size());
  skip_spaces();
  if (line.empty() || (line[0] != '<' && line[0] != '"')) return {};
  const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(1, end - 1);
}

}  // namespace

std::string for_nvrtc(std::string_view source, std::string_view name, bool has_toolkit) {
  const auto is_built_in = [has_toolkit](std::string_view header) {
    return std::ranges::find(kBuiltInHeaders, header) != kBuiltInHeaders.end() ||
           (!has_toolkit && header == kMathConstantsHeader);
  };
  std::string result =
      fmt::format("{}{}#line 1 \"{}\"\n", kDeclarations, has_toolkit ? std::string_view() : kMathConstants, name);
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    if (!is_built_in(included(line))) result += line;
    if (end < source.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

}  // namespace assay::candidate
