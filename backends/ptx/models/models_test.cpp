// Tests every exact instruction against its model, in every spelling that the opcode table allows. If ASSAY_PTX_LARGE
// is set, as in the slow tests, each instruction gets many more inputs.
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/models/self_check.hpp"

namespace assay::ptx::models {
namespace {

InputCounts extent() { return std::getenv("ASSAY_PTX_LARGE") == nullptr ? InputCounts{} : InputCounts::large(); }

/// Compares the spelling with its model and returns the number of results; 0 if the emulator does not support it.
std::size_t check(const InstructionForm& spelling) {
  const ModelComparison comparison = compare(spelling, extent());
  EXPECT_TRUE(comparison.has_model) << spelling.text() << " has no model";
  EXPECT_EQ(comparison.first_disagreement, "");
  return comparison.compared_input_count;
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
TEST(PtxInterpreter, ArithmeticLogicalAndMoveInstructionsMatchReferenceModel) {
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
    {"brx", "IndexedBranches.LanesBranchToTheirTargets"},
    {"call", "PtxInstructions.CallInstructionsPassArgumentsAndReturnResults"},
    {"cos", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"cp", "AsyncCopies.CopySourceBytesAndFillTheRestWithZeros"},
    {"cvta", "MemoryInstructions.IsspacepRecognizesStateSpaceOfGenericAddress"},
    {"div", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"elect", "WarpWideInstructions.ElectChoosesOneMember"},
    {"ex2", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"exit", "WarpWideInstructions.ExitEndsThreadButFencesAndPrefetchesHaveNoEffect"},
    {"fence", "WarpWideInstructions.ExitEndsThreadButFencesAndPrefetchesHaveNoEffect"},
    {"getctarank", "Clusters.RegistersAndAddressesOfAClusterOfOneBlock"},
    {"griddepcontrol", "WarpgroupProducts.InstructionsForRegistersAndDependentGridsHaveNoEffect"},
    {"isspacep", "MemoryInstructions.IsspacepRecognizesStateSpaceOfGenericAddress"},
    {"ld", "MemoryInstructions.LoadsAndStoresMatchReferenceModel"},
    {"ldmatrix", "MatrixOperations.LdmatrixDistributesRowsOfMatrices"},
    {"ldu", "MemoryInstructions.LoadsAndStoresMatchReferenceModel"},
    {"lg2", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"mapa", "Clusters.RegistersAndAddressesOfAClusterOfOneBlock"},
    {"match", "WarpWideInstructions.MatchSyncFollowsPtxManual"},
    {"mbarrier", "Mbarriers.ArrivalsOfAllThreadsCompleteAPhase"},
    {"membar", "WarpWideInstructions.ExitEndsThreadButFencesAndPrefetchesHaveNoEffect"},
    {"mma", "MatrixOperations.MmaComputesProductsWithDocumentedLayouts"},
    {"nanosleep", "WarpWideInstructions.ExitEndsThreadButFencesAndPrefetchesHaveNoEffect"},
    {"prefetch", "WarpWideInstructions.ExitEndsThreadButFencesAndPrefetchesHaveNoEffect"},
    {"prefetchu", "WarpWideInstructions.ExitEndsThreadButFencesAndPrefetchesHaveNoEffect"},
    {"rcp", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"red", "MemoryInstructions.AtomicsMatchReferenceModel"},
    {"redux", "WarpWideInstructions.ReductionsFollowPtxManual"},
    {"ret", "PtxInstructions.CallInstructionsPassArgumentsAndReturnResults"},
    {"rsqrt", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"setmaxnreg", "WarpgroupProducts.InstructionsForRegistersAndDependentGridsHaveNoEffect"},
    {"shfl", "WarpWideInstructions.ShufflesFollowPtxManual"},
    {"sin", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"sqrt", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"st", "MemoryInstructions.LoadsAndStoresMatchReferenceModel"},
    {"stmatrix", "MatrixOperations.StmatrixIsInverseOfLdmatrix"},
    {"tanh", "ApproximateInstructions.InterpreterReturnsCorrectlyRoundedResults"},
    {"tensormap", "TensorMaps.MapsCanBeMadeOnTheDevice"},
    {"tcgen05", "TensorProducts.AllKindsAndExtentsMultiply"},
    {"trap", "WarpWideInstructions.TrapStopsLaunch"},
    {"vote", "WarpWideInstructions.VotesFollowPtxManual"},
    {"wgmma", "WarpgroupProducts.AllTypesAndWidthsMultiply"},
    {"wmma", "CompiledMatrixKernels.WmmaProductsAreCorrect"},
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
