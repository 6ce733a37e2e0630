// Tests tables of a simulated device, whose results differ from the correctly rounded results by a known rule.
#include "backends/ptx/execute/tables.hpp"

#include <bit>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kStep = 40'009;

const ApproximationUnit& unit_named(std::string_view instruction) {
  const auto found = std::ranges::find(units(), instruction, &ApproximationUnit::instruction_name);
  EXPECT_NE(found, units().end()) << instruction;
  return *found;
}

/// The simulated difference: 0, 1 or -1, depending on the operand's fraction.
std::int64_t simulated_difference(std::uint32_t operand) {
  return static_cast<std::int64_t>(operand % (1U << 20U) % 3) - 1;
}

/// The simulated device; `off_by` is added to the rule.
template <class OffBy>
EvaluateUnit device(OffBy off_by) {
  return [=](const ApproximationUnit& unit,
             std::span<const std::uint32_t> operands) -> Result<std::vector<std::uint32_t>> {
    auto answers = compute_nearest_results(unit, operands);
    for (std::size_t i = 0; i < operands.size(); ++i)
      (*answers)[i] =
          static_cast<std::uint32_t>((*answers)[i] + simulated_difference(operands[i]) + off_by(operands[i]));
    return answers;
  };
}
const auto kByTheRule = [](std::uint32_t) { return 0; };

ApproximationTables measured_tables() {
  ApproximationTables tables{.device = "a device", .tables = {}};
  const auto measured = measure_unit(unit_named("rcp.approx.ftz.f64"), device(kByTheRule), kStep);
  EXPECT_TRUE(measured.ok());
  tables.tables.push_back(*measured->table);
  return tables;
}

TEST(ApproximationTables, PredictResultsForUnmeasuredOperands) {
  const auto measured = measure_unit(unit_named("rcp.approx.ftz.f64"), device(kByTheRule), kStep);
  ASSERT_TRUE(measured.ok()) << measured.error().text();
  EXPECT_EQ(measured->mismatching_operand_count, 0U);
  EXPECT_GT(measured->verified_operand_count,
            100'000U);  // of 107,349 operands, all except those without a normal result
  ASSERT_TRUE(measured->table.has_value());
  EXPECT_EQ(measured->table->windows()[0].ulp_differences.size(), std::size_t{1} << 20U);
}

/// If a result does not follow from the window, the device does not match the model, and no table is created.
TEST(ApproximationTables, AreNotCreatedIfResultsOfDeviceContradictModel) {
  const auto wrong_far_out = [](std::uint32_t operand) { return (operand >> 20U & 2047U) > 1500 ? 1 : 0; };
  const auto measured = measure_unit(unit_named("rcp.approx.ftz.f64"), device(wrong_far_out), kStep);
  ASSERT_TRUE(measured.ok());
  EXPECT_GT(measured->mismatching_operand_count, 10'000U);
  EXPECT_GT(measured->first_mismatching_operand >> 20U & 2047U, 1500U);
  EXPECT_FALSE(measured->table.has_value());
}

struct Answered {
  std::vector<std::uint64_t> words;
  InstructionProfile profile;
};

/// The results of a launch for the doubles.
Answered table_answers(const std::string& instruction, const std::vector<double>& operands,
                       const ApproximationTables* tables) {
  LaunchOptions options;
  options.tables = tables;
  std::vector<std::uint64_t> data;
  for (const double operand : operands)
    data.push_back(std::bit_cast<std::uint64_t>(operand));
  const auto done = testing::run(
      testing::entry(
          "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd1, %rd1, %rd2;"
          " ld.global.f64 %fd1, [%rd1];\n" +
          instruction + " %fd1, %fd1; st.global.f64 [%rd1], %fd1;"),
      data, {{1}, {static_cast<std::uint32_t>(data.size())}}, options);
  EXPECT_TRUE(done.result.ok()) << done.result.message;
  return {done.data, done.result.profile};
}

TEST(ApproximationTables, ReproduceResultsOfMeasuredDeviceBitForBit) {
  const ApproximationTables tables = measured_tables();
  const std::vector<double> operands = {1.0, 3.0, -0.7, 1e200, 1e-200, 2.5e-310, HUGE_VAL, 1.0 / 3};
  const Answered nearest = table_answers("rcp.approx.ftz.f64", operands, nullptr);
  const Answered given = table_answers("rcp.approx.ftz.f64", operands, &tables);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool known = i != 5 && i != 6;  // subnormal and infinite operands have no entry
    const auto upper = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(operands[i]) >> 32U);
    const auto expected =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(nearest.words[i]) +
                                   (known ? simulated_difference(upper) * (std::int64_t{1} << 32U) : 0));
    EXPECT_EQ(given.words[i], expected) << operands[i];
  }
  EXPECT_EQ(nearest.profile.approximate_instruction_count, 8U);
  EXPECT_EQ(given.profile.approximate_instruction_count, 2U);
  EXPECT_EQ(given.profile.exact_instruction_count, nearest.profile.exact_instruction_count + 6);
  EXPECT_TRUE(given.profile.approximation_reaches_result);
  EXPECT_FALSE(table_answers("rcp.approx.ftz.f64", {1.0, 3.0, 7.0}, &tables).profile.approximation_reaches_result);
  // A unit without a table is unchanged.
  EXPECT_EQ(table_answers("rsqrt.approx.ftz.f64", operands, &tables).words,
            table_answers("rsqrt.approx.ftz.f64", operands, nullptr).words);
}

/// Roots have windows of two binades, and no results for negative operands.
TEST(ApproximationTables, DistinguishEvenAndOddExponentsForSquareRoot) {
  const ApproximationUnit& unit = unit_named("sqrt.approx.f32");
  ApproximationTable::OperandWindow window{.first_operand = 0x3f800000,
                                           .ulp_differences = std::vector<std::int8_t>(std::size_t{1} << 24U)};
  window.ulp_differences[0] = 1;          // of 1
  window.ulp_differences[1U << 23U] = 2;  // of 2
  window.ulp_differences[3] = ApproximationTable::kNotMeasured;
  const ApproximationTable table(unit, {window}, 0);
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  EXPECT_EQ(table.answer(bits(1.0F), bits(1.0F)), bits(1.0F) + 1);
  EXPECT_EQ(table.answer(bits(4.0F), bits(2.0F)), bits(2.0F) + 1);
  EXPECT_EQ(table.answer(bits(0.25F), bits(0.5F)), bits(0.5F) + 1);
  EXPECT_EQ(table.answer(bits(2.0F), bits(1.5F)), bits(1.5F) + 2);
  EXPECT_EQ(table.answer(bits(0.5F), bits(0.75F)), bits(0.75F) + 2);
  EXPECT_EQ(table.answer(bits(3.0F), bits(1.75F)), bits(1.75F));
  EXPECT_EQ(table.answer(bits(1.0F) + 3, bits(1.0F) + 1), std::nullopt);
  EXPECT_EQ(table.answer(bits(-1.0F), bits(1.0F)), std::nullopt);
  EXPECT_EQ(table.answer(0x00000001, bits(1.0F)), std::nullopt);
}

TEST(ApproximationTables, RoundTripThroughFile) {
  const ApproximationTables tables = measured_tables();
  const auto read = decode_tables(encode_tables(tables));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->device, "a device");
  ASSERT_EQ(read->tables.size(), 1U);
  EXPECT_EQ(&read->tables[0].unit(), &tables.tables[0].unit());
  EXPECT_EQ(read->tables[0].verified_operand_count(), tables.tables[0].verified_operand_count());
  EXPECT_EQ(read->tables[0].windows()[0].first_operand, tables.tables[0].windows()[0].first_operand);
  EXPECT_EQ(read->tables[0].windows()[0].ulp_differences, tables.tables[0].windows()[0].ulp_differences);
}

TEST(ApproximationTables, H100TablesCoverAllApproximationUnits) {
  const auto read = read_tables(ASSAY_SOURCE_DIR "/testdata/ptx/h100.tables");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_THAT(read->device, HasSubstr("NVIDIA H100"));
  EXPECT_EQ(read->tables.size(), units().size());
  for (const ApproximationTable& table : read->tables) {
    EXPECT_GT(table.verified_operand_count(), 0U) << table.unit().instruction_name;
    // An approximation is within a few units of the correctly rounded result, and not always equal to it.
    std::set<std::int8_t> differences;
    for (const ApproximationTable::OperandWindow& window : table.windows())
      differences.insert(window.ulp_differences.begin(), window.ulp_differences.end());
    EXPECT_GT(differences.size(), 1U) << table.unit().instruction_name;
  }
}

TEST(ApproximationTables, RejectInvalidFiles) {
  const auto error_of = [](const std::string& content) {
    const auto read = decode_tables(content);
    return read.ok() ? std::string() : read.error().text();
  };
  const auto header = [](const std::string& units) {
    return R"({"format": "assay ptx tables", "version": 1, "device": "d", "units": [)" + units + "]}\n";
  };
  EXPECT_THAT(error_of(""), HasSubstr("must begin with the header of instruction tables"));
  EXPECT_THAT(error_of("\x7f"
                       "ELF"),
              HasSubstr("must begin with the header of instruction tables"));
  EXPECT_THAT(error_of(R"({"format": "assay ptx tables", "version": 9})"), HasSubstr("file version must be 1, got 9"));
  EXPECT_THAT(error_of(R"({"format": "assay ptx tables", "version": 1})"),
              HasSubstr("'device' must be a device's name, got nothing"));
  EXPECT_THAT(error_of(header("7")), HasSubstr("each element of 'units' must be a JSON object, got 7"));
  EXPECT_THAT(error_of(header(R"({"instruction": "add.f32"})")),
              HasSubstr("'add.f32' is not an approximate instruction"));
  EXPECT_THAT(error_of(header(R"({"instruction": "rcp.approx.f32", "verified": -1})")),
              ::testing::AllOf(HasSubstr("'verified' must be "), HasSubstr(", got -1")));
  const auto with_window = [&](const std::string& window) {
    return header(R"({"instruction": "rcp.approx.f32", "verified": 1, "windows": [)" + window + "]}");
  };
  EXPECT_THAT(error_of(with_window(R"({"first": 0, "count": 99999999999})")),
              HasSubstr("each operand must fit in 32 bits"));
  EXPECT_THAT(error_of(with_window(R"({"first": 0, "count": 4})")), HasSubstr("must contain 4 bytes"));
  const std::string good = encode_tables(measured_tables());
  EXPECT_THAT(error_of(good.substr(0, good.size() - 9)), HasSubstr("cannot decompress"));
  const std::size_t begin = good.find("\"units\":[") + 9;
  const std::string unit = good.substr(begin, good.find("],\"version\"") - begin);
  EXPECT_THAT(error_of(header(unit + "," + unit)), HasSubstr("instruction 'rcp.approx.ftz.f64' has two tables"));
}

}  // namespace
}  // namespace assay::ptx
