#include "harness/warp_differences/sweep_rules.hpp"

#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/parse/reader.hpp"
#include "harness/warp_differences/sweep_kernels.hpp"
#include "harness/warp_differences/sweep_values.hpp"
#include "ir/launch.hpp"

namespace assay::warp {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string semantics() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/design/semantics.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(WarpDifferenceRules, AreDocumentedInSemanticsTable) {
  const std::string text = semantics();
  for (const AllowedDifferenceRule& rule : sweep_rules())
    EXPECT_THAT(text, HasSubstr("\n| " + std::string(rule.name) + " |"));
  for (const ExtensionRule& rule : extension_rules())
    EXPECT_THAT(text, HasSubstr("\n| " + std::string(rule.name) + " |"));
}

TEST(CallsComparedWithWarp, HaveDistinctNamesAndIncludeEveryOperation) {
  std::set<std::string> operations, names;
  for (const SweptCall& call : swept_calls()) {
    operations.insert(call.operation_name);
    EXPECT_TRUE(names.insert(call.name).second) << call.name;
  }
  for (const ir::OperationEntry& row : ir::kOperations) {
    if (row.rule >= ir::TypeRule::kTileProduct || row.warp_pattern.empty() || row.op == ir::Op::kWrapIndex) continue;
    EXPECT_TRUE(operations.contains(std::string(row.mnemonic))) << row.mnemonic;
  }
}

TEST(CallsComparedWithWarp, AreRejectedByTheParserWhereWarpRejectsThem) {
  std::vector<SweptCall> calls = swept_calls();
  const Result<frontend::ParsedFile> file = frontend::parse_python(swept_file(calls), "sweep.py");
  ASSERT_TRUE(file.ok()) << file.error().text();
  std::set<std::string> parsed;
  for (const ir::Function& kernel : file->module.kernels)
    parsed.insert(kernel.name);
  for (const SweptCall& call : calls)
    EXPECT_EQ(parsed.contains(call.name), extension_rule(call) == nullptr) << call.name;
}

TEST(EdgeValues, AreDistinctAndIncludeNanInfinitiesAndSignedZeros) {
  for (const ir::ScalarTypeProperties& row : ir::kScalars) {
    const auto values = edge_values(row.scalar);
    EXPECT_EQ(std::set(values.begin(), values.end()).size(), values.size()) << row.name;
    if (!row.is_float) continue;
    std::set<std::string> found;
    for (const ScalarBytes& value : values)
      found.insert(std::to_string(ir::read_float(row.scalar, value.data())));
    for (const char* const wanted : {"nan", "inf", "-inf", "0.000000", "-0.000000", "0.500000"})
      EXPECT_TRUE(found.contains(wanted)) << row.name << ": " << wanted;
  }
}

TEST(OperandTuples, CoverAllPairsOfEdgeValues) {
  const SweptCall call{.operation_name = "and",
                       .operand_types = {ir::kBool, ir::kBool},
                       .result_types = {ir::kBool},
                       .expression_template = "$0 and $1",
                       .name = "and_bool_bool"};
  const EdgeValueTuples tuples = edge_tuples(call);
  EXPECT_EQ(tuples.tuple_count, 4U);
  ASSERT_THAT(tuples.operand_array_contents, SizeIs(2));
  EXPECT_NE(tuples.operand_array_contents[0], tuples.operand_array_contents[1]);
}

}  // namespace
}  // namespace assay::warp
