#include "harness/mutation/equivalence.hpp"

#include <gtest/gtest.h>

#include "harness/mutation/mutation_testing.hpp"
#include "harness/suite/select/select.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::mutation {
namespace {

/// The kernels that proofs are about.
Campaign verified_kernels() {
  Campaign campaign;
  std::vector<std::string> names;
  for (const ProvedEqual& proof : kProvedEqual)
    names.emplace_back(proof.kernel);
  const Result<harness::Selection> selection = harness::select(names, {.device = "cpu", .modes = {""}});
  EXPECT_TRUE(selection.ok());
  for (const harness::Selected& kernel : selection->kernels)
    campaign.kernels.push_back(kernel.source);
  return campaign;
}

TEST(ProvedEqual, IsAMutantThatIsStillMade) {
  const Campaign campaign = verified_kernels();
  EXPECT_EQ(stale_proofs(campaign, kProvedEqual, backends::SourceTarget::kCpp, harness::testing::faulty_printer({})),
            std::vector<std::string>{});
  for (const ProvedEqual& proof : kProvedEqual)
    EXPECT_FALSE(proof.proof.empty()) << proof.kernel;
}

TEST(ProvedEqual, IsStaleWhereTheMutantBecameAnother) {
  ProvedEqual changed = kProvedEqual[0];
  ++changed.patch;
  EXPECT_EQ(stale_proofs(verified_kernels(), {&changed, 1}, backends::SourceTarget::kCpp,
                         harness::testing::faulty_printer({})),
            std::vector<std::string>{std::string(changed.kernel)});
}

}  // namespace
}  // namespace assay::mutation
