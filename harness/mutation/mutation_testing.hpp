// Mutation testing of the suite: makes incorrect kernels and counts how many the suite detects. Start here.
//
//     kernels --find_mutations--> candidates --plan_mutants--> mutants --run_mutants--> MutantRecord --> MutationScore
//
// A mutant is a kernel with one change (operators.hpp) of its adjoint, of its forward kernel or of the printed text. If
// the device runs the code of Warp, the change is one of the text that Warp generates (warp_code.hpp). A mutant is
// judged with the test plan of the correct kernel, separately in each precision variant. A mutant that passes both is
// equivalent if an optimizing compiler generates the same code for it as for the correct kernel; otherwise it survived,
// and the suite has a gap.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/counterexample.hpp"
#include "harness/judge/policy.hpp"
#include "harness/mutation/operators.hpp"
#include "harness/mutation/warp_code.hpp"
#include "harness/records/record.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::mutation {

/// The outcome of a mutant.
enum class MutantStatus : std::uint8_t {
  kKilled,             ///< rejected in at least one precision variant
  kSurvived,           ///< passed in both precision variants, and not known to be equivalent
  kEquivalent,         ///< passed, and compiles to the same optimized code as the correct kernel
  kEquivalentByProof,  ///< passed, and correct by a proof: equivalence.hpp, or IsBarrierRedundant
  kInvalid,            ///< not counted, because it does not compile or the correct kernel does not pass
};
constexpr std::string_view to_text(MutantStatus status) {
  constexpr std::array<std::string_view, 5> kTexts = {"killed", "survived", "equivalent", "proved", "invalid"};
  return kTexts[static_cast<std::size_t>(status)];
}

/// The verdict on a mutant in one precision variant.
struct PrecisionVerdict {
  std::string rejecting_check;       ///< check that rejected the mutant: "t1 mismatch"; empty if the mutant passed
  bool equivalent_by_proof = false;  ///< whether the mutant passed and is correct in this variant by a proof
  bool killed() const { return !rejecting_check.empty(); }
};

/// Factors by which comparison bounds are widened, to measure the effect of tight bounds.
inline constexpr std::array<double, 4> kBoundWideningFactors = {1.5, 10, 1'000, 100'000};

/// Why a mutant was rejected, with the evidence.
struct Rejection {
  backends::EmittedKernel kernel;                         ///< the mutant
  std::string rejecting_check;                            ///< as PrecisionVerdict::rejecting_check
  std::string message;                                    ///< one line for people
  std::optional<harness::Mismatch> mismatch;              ///< the first value outside its bound, if a comparison failed
  std::optional<harness::Counterexample> counterexample;  ///< the launch; empty if the check needs none
  /// Whether a comparison with tolerances accepts the results of the pass in native precision: one element for each
  /// tolerance; empty if no launch was compared.
  std::vector<harness::ToleranceComparison> tolerance_comparisons;
};

/// A judged mutant: one line of the ledger.
struct MutantRecord {
  std::string name;  ///< kernel, operator and number: "loop/dynamic_product#drop_contribution.2"
  MutationOperator op = MutationOperator::kOverwriteGradient;  ///< operator that made the mutant
  std::string family;                                          ///< family of the kernel
  std::string kernel;                                          ///< name of the kernel in its family
  std::int64_t line = 0;                         ///< line of the change in the kernel's source; 0 if unknown
  std::string description;                       ///< description of the change for people
  MutantStatus status = MutantStatus::kInvalid;  ///< outcome of the mutant
  PrecisionVerdict promoted, native;             ///< verdicts with f64 promotion and with the kernel's own types
  /// With MutationCampaign::judges_widened_bounds: for each factor of kBoundWideningFactors, whether native precision
  /// still rejects the mutant when the bounds are wider by this factor.
  std::vector<bool> killed_with_widened_bounds;
  std::string patch;             ///< the first lines in which a survivor differs from the correct kernel; else empty
  std::uint64_t patch_hash = 0;  ///< hash of all lines in which the mutant differs from the correct kernel
  /// With MutationCampaign::keeps_rejections, for a killed mutant: the evidence in native precision, or with f64
  /// promotion if only that rejects it. Otherwise null. Not part of the ledger.
  std::shared_ptr<const Rejection> rejection = nullptr;
};

/// What a campaign mutates, and how it judges the mutants.
struct MutationCampaign {
  std::vector<harness::KernelSource> kernels;  ///< the correct kernels to mutate
  std::set<MutationOperator> operators;        ///< operators to apply
  std::size_t max_mutants = 300;               ///< maximum number of mutants, spread evenly over the operators
  std::uint64_t seed = 1;                      ///< seed of the choice of mutants and of the inputs
  harness::JudgingPolicy policy = harness::JudgingPolicy::standard();  ///< how thoroughly mutants are judged
  int jobs = 0;  ///< number of kernels processed concurrently; 0: one per core
  /// Whether to judge killed mutants again with widened bounds (kBoundWideningFactors).
  bool judges_widened_bounds = false;
  bool keeps_rejections = false;  ///< whether to keep the evidence against killed mutants (MutantRecord::rejection)
  std::chrono::milliseconds time_limit{1000};  ///< limit on the processor time of one launch
  /// For a device that runs Warp's code: by kernel, the code to mutate; empty for a kernel that Warp rejects.
  std::vector<std::optional<WarpCodes>> warp_codes = {};
  std::set<std::string> completed_mutants;  ///< names of the mutants to skip, because they were judged before
};

/// One planned mutant.
struct PlannedMutant {
  std::size_t kernel = 0;                                      ///< index of the kernel in MutationCampaign::kernels
  MutationOperator op = MutationOperator::kOverwriteGradient;  ///< operator that makes the mutant
  std::size_t mutation_index = 0;  ///< index of the mutation among those of the operator in the kernel
};

/// Chooses mutants at random, evenly distributed over the operators and over the kernels as far as there are enough
/// mutations of each. The same campaign gives the same plan.
std::vector<PlannedMutant> plan_mutants(const MutationCampaign& campaign, const backends::Device& device,
                                        const harness::Printer& printer);

std::string name_of(const MutationCampaign& campaign, const PlannedMutant& mutant);

struct EquivalenceProof;
/// The kernels of the campaign with a proof (equivalence.hpp) that matches no mutant.
std::vector<std::string> find_stale_proofs(const MutationCampaign& campaign, std::span<const EquivalenceProof> proofs,
                                           backends::SourceTarget target, const harness::Printer& printer);

/// Whether an optimizing compiler generates the same code for two kernels.
using SameCode = std::function<Result<bool>(const backends::EmittedKernel&, const backends::EmittedKernel&)>;
/// Whether the barriers `bar.sync 1` of a kernel are redundant in this precision. Conservative: false may mean that it
/// is not known.
using IsBarrierRedundant = std::function<Result<bool>(const backends::BuiltKernel&, backends::Precision)>;
/// Checks whether a mutant that passed is equivalent to the correct kernel.
struct EquivalenceChecks {
  SameCode compiles_to_same_code;           ///< compares the optimized code of two kernels
  IsBarrierRedundant is_barrier_redundant;  ///< checks the barrier that a mutant omits
};
/// Called for each mutant in order of completion, never concurrently.
using MutantCallback = std::function<Result<void>(const MutantRecord&)>;

/// Makes and judges the planned mutants, and calls `take` with each. Fails if `take` fails.
Result<void> run_mutants(const MutationCampaign& campaign, const std::vector<PlannedMutant>& plan,
                         backends::Device& device, const harness::Printer& printer, const EquivalenceChecks& proofs,
                         const MutantCallback& take);

}  // namespace assay::mutation
