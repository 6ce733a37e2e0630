// Compares the parameter names of functions with those of Warp, for keyword arguments.
#include "harness/warp_differences/signatures.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "frontend/warp/parse/warp_names.hpp"
#include "harness/warp_differences/sweep_kernels.hpp"

namespace assay::warp {
namespace {

/// Whether Warp has a signature with these parameters, possibly followed by parameters with default values.
bool has_signature(const std::vector<std::string>& signatures, std::string_view parameters) {
  return std::ranges::any_of(signatures, [&](const std::string& signature) {
    return signature == parameters || signature.starts_with(std::string(parameters) + ' ');
  });
}

TEST(Signatures, KeywordArgumentNamesMatchWarp) {
  const Result<WarpInterpreter> interpreter = find_interpreter();
  if (!interpreter.ok()) GTEST_SKIP() << interpreter.error().text();
  const Result<WarpSignatures> signatures = warp_signatures(*interpreter, ASSAY_SOURCE_DIR);
  ASSERT_TRUE(signatures.ok()) << signatures.error().text();
  std::size_t compared = 0;
  for (const auto& [function, known] : *signatures) {
    for (const std::string_view parameters : frontend::warp_parameters(function)) {
      EXPECT_TRUE(has_signature(known, parameters)) << function << '(' << parameters << ')';
      ++compared;
    }
  }
  EXPECT_GT(compared, 100U);
}

TEST(Signatures, ParameterNamesOfEveryFunctionAreKnown) {
  for (const SweptCall& call : swept_calls()) {
    if (!call.expression_template.starts_with("wp.")) continue;
    const std::string function = call.expression_template.substr(3, call.expression_template.find('(') - 3);
    const auto names = frontend::warp_parameters(function);
    const bool takes_type = call.expression_template.find("$T") != std::string::npos;
    const std::size_t expected = call.operand_types.size() + (takes_type ? 1 : 0);
    const bool found = std::ranges::any_of(names, [&](std::string_view parameters) {
      return std::ranges::count(parameters, ' ') + 1 == static_cast<std::ptrdiff_t>(expected);
    });
    EXPECT_TRUE(found) << call.name;
  }
}

}  // namespace
}  // namespace assay::warp
