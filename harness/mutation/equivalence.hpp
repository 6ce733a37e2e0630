// Mutants that a proof on paper shows to be the right kernel in other words, where no pass over the program sees it.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/mutation/operators.hpp"

namespace assay::mutation {

/// One mutant, by what it changes: a proof holds for that text alone. A wrong one hides a gap of the suite.
struct ProvedEqual {
  std::string_view kernel;  ///< "loop/dynamic_product"
  Operator op = Operator::kOverwriteGradient;
  std::uint64_t patch = 0;  ///< MutantRecord::patch_hash
  std::string_view proof;
};

inline constexpr ProvedEqual kProvedEqual[] = {
    {"array_access/views_with_offset", Operator::kPlainAddition, 0x6831439acfaecebe,
     "Wherever the views lie within x this is the cell (i + 2, i). The others are (i + 1, i + 2), (i + j, i + j) and "
     "(i, i + j): none of any thread lies two rows below the diagonal but this thread's own."},
    {"atomic/slots_by_own_counter", Operator::kLoopRunsForward, 0x9671169fdc6549b4,
     "Each of the five trips at most, all of whose counts are kept, takes the seed of a slot that no other trip has, "
     "and adds to its own element of x: they commute."},
    {"combined/attention_row", Operator::kFinalState, 0x250ebd8b6abd2bdd,
     "The maximum's adjoint goes to the first trip, from the end, whose s is not below the greatest before it. That is "
     "the last one whose s is the greatest of all, so that it is also the first whose s is not below the final one. "
     "Behind it the adjoint is zero."},
    {"combined/attention_row", Operator::kFinalState, 0xf5c812d28042b5c0,
     "As the other one: the greatest of the final value and any s is the final value, in each trip that is run again."},
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
    {"vector/normalize_at_zero", Operator::kOtherVersion, 0x7f290ded2a036d83,
     "Where the vector is another one than the first it is zero or no number, so that its length is not above zero and "
     "the quotient is not taken."},
};

}  // namespace assay::mutation
