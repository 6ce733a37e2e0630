#include "harness/mutation/equivalence.hpp"

#include <gtest/gtest.h>

#include "harness/mutation/mutation_testing.hpp"
#include "harness/suite/select/select.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::mutation {
namespace {

/// A campaign with the kernels that have proofs.
MutationCampaign campaign_with_proofs() {
  MutationCampaign campaign;
  std::vector<std::string> names;
  for (const EquivalenceProof& proof : kEquivalenceProofs)
    names.emplace_back(proof.kernel);
  const Result<harness::Selection> selection = harness::select(names, {.device = "cpu", .modes = {""}});
  EXPECT_TRUE(selection.ok());
  for (const harness::SelectedKernel& kernel : selection->kernels)
    campaign.kernels.push_back(kernel.source);
  return campaign;
}

TEST(EquivalenceProofs, MatchExistingMutants) {
  const MutationCampaign campaign = campaign_with_proofs();
  EXPECT_EQ(find_stale_proofs(campaign, kEquivalenceProofs, backends::SourceTarget::kCpp,
                              harness::testing::faulty_printer({})),
            std::vector<std::string>{});
  for (const EquivalenceProof& proof : kEquivalenceProofs)
    EXPECT_FALSE(proof.proof_text.empty()) << proof.kernel;
}

TEST(EquivalenceProofs, AreStaleIfTheMutantChanges) {
  EquivalenceProof changed = kEquivalenceProofs[0];
  ++changed.patch_hash;
  EXPECT_EQ(find_stale_proofs(campaign_with_proofs(), {&changed, 1}, backends::SourceTarget::kCpp,
                              harness::testing::faulty_printer({})),
            std::vector<std::string>{std::string(changed.kernel)});
}

}  // namespace
}  // namespace assay::mutation
