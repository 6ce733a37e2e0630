// Tests every exact instruction against its model, in every spelling that the opcode table allows. If ASSAY_PTX_LARGE
// is set, as in the slow tests, each instruction gets many more inputs.
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

InputCounts extent() { return std::getenv("ASSAY_PTX_LARGE") == nullptr ? InputCounts{} : InputCounts::large(); }

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
  KernelArguments arguments;
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

/// PTX leaves the bits of 64-bit NaN results unspecified, and those of any width for abs, neg and copysign.
bool is_open_nan(const InstructionForm& spelling, std::uint64_t expected, std::uint64_t got) {
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

/// Compares the spelling with its model and returns the number of results; 0 if the emulator does not support it.
std::size_t check(const InstructionForm& spelling) {
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
      ADD_FAILURE() << fmt::format("{}{} of 0x{:x}, 0x{:x}, 0x{:x}, 0x{:x}: got 0x{:x} and {}, expected 0x{:x} and {}",
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
void check_rows(std::size_t min_spellings, Wanted wanted) {
  std::size_t spelled = 0;
  std::size_t compared = 0;
  for (const OpcodeRow& row : opcode_rows()) {
    if (!is_computed(row) || !wanted(row)) continue;
    const std::vector<InstructionForm> spellings = spellings_of(row);
    EXPECT_FALSE(spellings.empty()) << row.name << " has a modifier that the models do not support: " << row.modifiers;
    for (const InstructionForm& spelling : spellings) {
      const std::size_t tried = check(spelling);
      EXPECT_NE(tried, 0U) << spelling.text() << " is in the table but not supported";
      compared += tried;
    }
    spelled += spellings.size();
  }
  fmt::print("{} spellings, {} results compared\n", spelled, compared);
  EXPECT_GE(spelled, min_spellings);
}

bool is_conversion(const OpcodeRow& row) { return row.opcode == Opcode::kCvt; }
bool is_comparison(const OpcodeRow& row) { return row.opcode == Opcode::kSetp || row.opcode == Opcode::kSet; }

TEST(PtxInterpreter, ConversionsMatchReferenceModel) { check_rows(650, is_conversion); }
TEST(PtxInterpreter, ComparisonsMatchReferenceModel) { check_rows(3900, is_comparison); }
TEST(PtxInterpreter, ArithmeticLogicAndMovesMatchReferenceModel) {
  check_rows(750, [](const OpcodeRow& row) { return !is_conversion(row) && !is_comparison(row); });
}

// ------------------------------------------------------------------------------------------------- the other opcodes

/// For each instruction without a model, the test that covers it: "Suite.Test". These are the instructions that are not
/// computed lane by lane, and the approximations, which are exact only up to their bound.
const std::map<std::string_view, std::string_view> kTestedBy = {
    {"activemask", "WarpWideInstructions.ActiveMaskContainsActiveLanes"},
    {"atom", "MemoryInstructions.AtomicsMatchReferenceModel"},
    {"bar", "PtxChecks.BarArrivePreventsRaceWithWaitingWarp"},
    {"barrier", "WarpWideInstructions.BarrierReductionsCombineThreadsOfAllWarps"},
    {"bra", "PtxInstructions.CallInstructionsPassArgumentsAndReturnResults"},
    {"call", "PtxInstructions.CallInstructionsPassArgumentsAndReturnResults"},
    {"cos", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"cvta", "MemoryInstructions.IsspacepRecognizesStateSpaceOfGenericAddress"},
    {"div", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"ex2", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"exit", "WarpWideInstructions.FencesAndPrefetchesHaveNoEffectAndExitEndsThread"},
    {"fence", "WarpWideInstructions.FencesAndPrefetchesHaveNoEffectAndExitEndsThread"},
    {"isspacep", "MemoryInstructions.IsspacepRecognizesStateSpaceOfGenericAddress"},
    {"ld", "MemoryInstructions.LoadsAndStoresMatchReferenceModel"},
    {"ldu", "MemoryInstructions.LoadsAndStoresMatchReferenceModel"},
    {"lg2", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"match", "WarpWideInstructions.MatchSyncFollowsPtxManual"},
    {"membar", "WarpWideInstructions.FencesAndPrefetchesHaveNoEffectAndExitEndsThread"},
    {"nanosleep", "WarpWideInstructions.FencesAndPrefetchesHaveNoEffectAndExitEndsThread"},
    {"prefetch", "WarpWideInstructions.FencesAndPrefetchesHaveNoEffectAndExitEndsThread"},
    {"prefetchu", "WarpWideInstructions.FencesAndPrefetchesHaveNoEffectAndExitEndsThread"},
    {"rcp", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"red", "MemoryInstructions.AtomicsMatchReferenceModel"},
    {"redux", "WarpWideInstructions.ReductionsFollowPtxManual"},
    {"ret", "PtxInstructions.CallInstructionsPassArgumentsAndReturnResults"},
    {"rsqrt", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"shfl", "WarpWideInstructions.ShufflesFollowPtxManual"},
    {"sin", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"sqrt", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"st", "MemoryInstructions.LoadsAndStoresMatchReferenceModel"},
    {"tanh", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"trap", "WarpWideInstructions.TrapStopsLaunch"},
    {"vote", "WarpWideInstructions.VotesFollowPtxManual"},
};

TEST(PtxInterpreter, EveryInstructionIsTested) {
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
    ASSERT_NE(named, kTestedBy.end()) << row.name << " has neither a model nor a test";
    EXPECT_TRUE(tests.contains(std::string(named->second))) << row.name << ": no test " << named->second;
  }
}

}  // namespace
}  // namespace assay::ptx::models
