// Every exact instruction against its definition, in every spelling that the table of opcodes admits. With
// ASSAY_PTX_LARGE in the environment the large form, as the slow test has it.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/models/inputs.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx::models {
namespace {

Extent extent() { return std::getenv("ASSAY_PTX_LARGE") == nullptr ? Extent{} : Extent::large(); }

/// A record of the kernels of spelling.hpp.
struct Record {
  Operands operands{};
  Results results;
};

std::vector<Results> executed(const std::shared_ptr<const Kernel>& kernel, std::span<const Operands> operands) {
  std::vector<Record> records((operands.size() + 255) / 256 * 256);
  for (std::size_t i = 0; i < operands.size(); ++i)
    records[i].operands = operands[i];
  Machine machine;
  Arguments arguments;
  arguments.add(machine.address(machine.adopt("x", std::as_writable_bytes(std::span(records)))));
  LaunchOptions options;
  options.checks = Checks::none();
  const RunResult run =
      machine.launch(kernel, {{static_cast<std::uint32_t>(records.size() / 256)}, {256}}, arguments, options);
  EXPECT_TRUE(run.ok()) << run.message;
  std::vector<Results> results;
  for (std::size_t i = 0; i < operands.size(); ++i)
    results.push_back(records[i].results);
  return results;
}

/// PTX leaves open which NaN of 64 bits a result is, and which of any width abs, neg and copysign give.
bool is_open_nan(const Spelling& spelling, std::uint64_t expected, std::uint64_t got) {
  const bool of_signs = spelling.row->name == "abs" || spelling.row->name == "neg" || spelling.row->name == "copysign";
  if (!is_float(spelling.type) || (spelling.type != Type::kF64 && !of_signs)) return false;
  const bool pair = spelling.type == Type::kF16x2 || spelling.type == Type::kBf16x2;
  for (unsigned half = 0; half < (pair ? 2 : 1); ++half) {
    const FloatFormat& format = format_of(spelling.type);
    const std::uint64_t mask = format.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << format.bits) - 1;
    const std::uint64_t a = expected >> (16 * half) & mask;
    const std::uint64_t b = got >> (16 * half) & mask;
    if (a != b && !(exact_float(format, a).is_nan() && exact_float(format, b).is_nan())) return false;
  }
  return true;
}

/// How often the spelling was held against its model; 0 where the lane does not support it.
std::size_t check(const Spelling& spelling) {
  const auto kernel = kernel_of(spelling);
  if (kernel == nullptr) return 0;
  const Model model = find_model(spelling);
  if (model == nullptr) {
    ADD_FAILURE() << spelling.text() << " has no model";
    return 0;
  }
  constexpr std::size_t kLaunch = std::size_t{1} << 17U;
  const std::vector<Operands> operands = operands_for(spelling, extent());
  for (std::size_t first = 0; first < operands.size(); first += kLaunch) {
    const std::span part = std::span(operands).subspan(first, std::min(kLaunch, operands.size() - first));
    const std::vector<Results> got = executed(kernel, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Results expected = model(spelling, part[i]);
      const bool same = expected.first == got[i].first || is_open_nan(spelling, expected.first, got[i].first);
      const bool second = !has_second_result(spelling) || expected.second == got[i].second;
      if (same && second) continue;
      ADD_FAILURE() << fmt::format("{}{} of 0x{:x}, 0x{:x}, 0x{:x}, 0x{:x} gave 0x{:x} and {}, expected 0x{:x} and {}",
                                   spelling.text(), spelling.table != 0 ? fmt::format(" {}", spelling.table) : "",
                                   part[i][0], part[i][1], part[i][2], part[i][3], got[i].first, got[i].second,
                                   expected.first, expected.second);
      return operands.size();
    }
  }
  return operands.size();
}

/// All spellings of the rows that `wanted` chooses.
template <class Wanted>
void check_rows(std::size_t least_spellings, Wanted wanted) {
  std::size_t spelled = 0;
  std::size_t compared = 0;
  for (const OpcodeRow& row : opcode_rows()) {
    if (!is_computed(row) || !wanted(row)) continue;
    const std::vector<Spelling> spellings = spellings_of(row);
    EXPECT_FALSE(spellings.empty()) << row.name << " has a modifier that the models do not know: " << row.modifiers;
    for (const Spelling& spelling : spellings) {
      const std::size_t tried = check(spelling);
      EXPECT_NE(tried, 0U) << spelling.text() << " is in the table and not supported";
      compared += tried;
    }
    spelled += spellings.size();
  }
  fmt::print("{} spellings, {} results compared\n", spelled, compared);
  EXPECT_GE(spelled, least_spellings);
}

bool is_conversion(const OpcodeRow& row) { return row.opcode == Opcode::kCvt; }
bool is_comparison(const OpcodeRow& row) { return row.opcode == Opcode::kSetp || row.opcode == Opcode::kSet; }

TEST(Models, Conversions) { check_rows(650, is_conversion); }
TEST(Models, Comparisons) { check_rows(3900, is_comparison); }
TEST(Models, ArithmeticLogicAndMoves) {
  check_rows(750, [](const OpcodeRow& row) { return !is_conversion(row) && !is_comparison(row); });
}

// ------------------------------------------------------------------------------------------------- the other opcodes

/// What holds an instruction that is not computed lane by lane against its definition: "Suite.Test". Approximations are
/// exact to their bound only, and have theirs too.
const std::map<std::string_view, std::string_view> kTestedBy = {
    {"activemask", "WarpModels.ActiveMask"},
    {"atom", "MemoryModels.Atomics"},
    {"bar", "Checks.BarriersOfAPartOfABlock"},
    {"barrier", "WarpModels.ReductionsAtBarriers"},
    {"bra", "Instructions.CallsAndLocalMemory"},
    {"call", "Instructions.CallsAndLocalMemory"},
    {"cos", "Approximations.AreTheNearestNumbers"},
    {"cvta", "MemoryModels.SpacesOfGenericAddresses"},
    {"div", "Approximations.AreTheNearestNumbers"},
    {"ex2", "Approximations.AreTheNearestNumbers"},
    {"exit", "WarpModels.WithoutEffect"},
    {"fence", "WarpModels.WithoutEffect"},
    {"isspacep", "MemoryModels.SpacesOfGenericAddresses"},
    {"ld", "MemoryModels.LoadsAndStores"},
    {"ldu", "MemoryModels.LoadsAndStores"},
    {"lg2", "Approximations.AreTheNearestNumbers"},
    {"match", "WarpModels.Matches"},
    {"membar", "WarpModels.WithoutEffect"},
    {"nanosleep", "WarpModels.WithoutEffect"},
    {"prefetch", "WarpModels.WithoutEffect"},
    {"prefetchu", "WarpModels.WithoutEffect"},
    {"rcp", "Approximations.AreTheNearestNumbers"},
    {"red", "MemoryModels.Atomics"},
    {"redux", "WarpModels.Reductions"},
    {"ret", "Instructions.CallsAndLocalMemory"},
    {"rsqrt", "Approximations.AreTheNearestNumbers"},
    {"shfl", "WarpModels.Shuffles"},
    {"sin", "Approximations.AreTheNearestNumbers"},
    {"sqrt", "Approximations.AreTheNearestNumbers"},
    {"st", "MemoryModels.LoadsAndStores"},
    {"tanh", "Approximations.AreTheNearestNumbers"},
    {"trap", "WarpModels.Trap"},
    {"vote", "WarpModels.Votes"},
};

TEST(Models, NoInstructionIsWithoutATest) {
  std::set<std::string> tests;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t)
      tests.insert(fmt::format("{}.{}", suite.name(), suite.GetTestInfo(t)->name()));
  }
  for (const OpcodeRow& row : opcode_rows()) {
    if (is_computed(row)) continue;
    const auto named = kTestedBy.find(row.name);
    ASSERT_NE(named, kTestedBy.end()) << row.name << " has neither a model nor a test of its own";
    EXPECT_TRUE(tests.contains(std::string(named->second))) << row.name << ": no test " << named->second;
  }
}

}  // namespace
}  // namespace assay::ptx::models
