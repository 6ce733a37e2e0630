// Mutants that a proof on paper shows to be the right kernel in other words, where no pass over the program sees it.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/certify/operators.hpp"

namespace assay::certify {

/// One mutant, by what it changes: a proof holds for that text alone. A wrong one hides a gap of the suite.
struct ProvedEqual {
  std::string_view kernel;  ///< "loop/dynamic_product"
  Operator op = Operator::kOverwriteGradient;
  std::uint64_t patch = 0;  ///< MutantRecord::patch_hash
  std::string_view proof;
};

inline constexpr ProvedEqual kProvedEqual[] = {
    {"control_flow/newton_root", Operator::kBranchOnChanged, 0xe6a6f4ff249a3fa2,
     "Between 0.2 and 9 the iteration from 1 ends by its tolerance after four trips: the count, whichever of them, is "
     "below 30 whenever it is asked."},
    {"control_flow/newton_root", Operator::kBranchOnChanged, 0x8d6e97852e7388f2,
     "Between 0.2 and 9 the iteration from 1 ends by its tolerance after four trips: the count, whichever of them, is "
     "below 30 whenever it is asked."},
    {"control_flow/newton_root", Operator::kGuardOffByOne, 0xf14e29c522837316,
     "Between 0.2 and 9 the iteration from 1 ends by its tolerance after four trips: fewer than 30, and than 31."},
    {"control_flow/newton_root", Operator::kWrongOperator, 0xd364829115d16326,
     "The count is only asked to be below 30. Counted down it is, and counted up it comes to four at most."},
    {"control_flow/return_inside_loop", Operator::kOtherVersion, 0x9ca1520817178443,
     "The product stands in the arm of the return, which only the last trip enters. That trip leaves the state as it "
     "is "
     "there, so that the state behind the loop is the one that is computed again."},
    {"matrix/inverse_of_singular", Operator::kLoopRunsForward, 0xc03204e8afe3de24,
     "Each of the three trips may clear one element of the adjoint, each another one, and reads no other: they "
     "commute."},
    {"reduction/centroid", Operator::kWrongOperand, 0xa66ae745fecb5882,
     "With p in the place of p - c each point gets 2 a p, and the centroid -2 a n c in the place of zero, of which "
     "each "
     "point gets its n-th part: 2 a (p - c) in all, as it must."},
    {"reduction/compensated_sum", Operator::kLoopRunsForward, 0xe64ce9743a10c45c,
     "Every trip leaves the adjoints (lost, s) = (-seed, seed), exactly, and from (0, seed), with which the first one "
     "begins, as from there, y gets the seed: all trips do the same to a cell of their own."},
};

}  // namespace assay::certify
