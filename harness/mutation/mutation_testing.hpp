// The suite certifies itself: it makes wrong kernels and counts how many of them it catches. Start reading here.
//
//     kernels --find_mutations--> candidates --choose--> mutants --judge, as every kernel--> MutantRecord --> Score
//
// A mutant is a kernel with one change (operators.hpp) of its adjoint, of itself or of the printed text. It is judged
// by the exam of the right kernel, each lane by itself. One that neither lane refuses is equivalent if an optimising
// compiler makes the same code of it as of the right kernel; otherwise it survived, and the suite has a gap.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/policy.hpp"
#include "harness/mutation/operators.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::mutation {

/// What became of a mutant.
enum class Fate : std::uint8_t {
  kKilled,
  kSurvived,
  kEquivalent,  ///< the same optimised code as the right kernel
  kProved,      ///< it survived, and a proof says that it is right: proved_equal.hpp, or NeedlessBarrier
  kInvalid,     ///< it does not compile, or the right kernel itself has no verdict: not counted
};
constexpr std::string_view to_text(Fate fate) {
  constexpr std::array<std::string_view, 5> kTexts = {"killed", "survived", "equivalent", "proved", "invalid"};
  return kTexts[static_cast<std::size_t>(fate)];
}

/// What one lane said: the check that refused the mutant, "t1 mismatch", "out_of_bounds"; empty where it passed.
struct PrecisionVerdict {
  std::string check;
  bool proved = false;  ///< it passed, and a proof says that in this lane it is right
  bool killed() const { return !check.empty(); }
};

/// By how much the bounds of the comparison are widened to see how much its sharpness is worth.
inline constexpr std::array<double, 4> kWidenings = {1.5, 10, 1'000, 100'000};

struct MutantRecord {
  std::string name;  ///< "loop/dynamic_product#drop_contribution.2"
  Operator op = Operator::kOverwriteGradient;
  std::string family;
  std::string kernel;
  std::int64_t line = 0;  ///< in the kernel's source; 0 where unknown
  std::string what;
  Fate fate = Fate::kInvalid;
  PrecisionVerdict promote, native;
  /// With Campaign::widen, by kWidenings: whether the native lane still refuses it with bounds so much wider.
  std::vector<bool> killed_widened;
  std::string patch;             ///< of a survivor: the lines that differ, the first of them
  std::uint64_t patch_hash = 0;  ///< of all lines that differ
};

struct Campaign {
  std::vector<harness::KernelSource> kernels;
  std::set<Operator> operators;  ///< of these
  std::size_t mutants = 300;     ///< to make at most, spread evenly over the operators
  std::uint64_t seed = 1;        ///< of the choice among the places, and of the inputs
  harness::Policy policy = harness::Policy::standard();
  int jobs = 0;  ///< kernels at a time; 0: one for each core
  bool widen = false;
  std::chrono::milliseconds time_limit{1000};
  std::set<std::string> done;  ///< names of mutants that are not to be made again
};

/// One mutant that was chosen, by the kernel that it is made of.
struct Planned {
  std::size_t kernel = 0;  ///< in Campaign::kernels
  Operator op = Operator::kOverwriteGradient;
  std::size_t number = 0;  ///< among the operator's places in the kernel
};

/// Chooses the mutants: as many places of each operator as the others, where it has so many, at random but so that each
/// kernel comes up as often as the others. The same campaign gives the same plan.
std::vector<Planned> plan_mutants(const Campaign& campaign, const backends::Device& device,
                                  const harness::Printer& printer);

std::string name_of(const Campaign& campaign, const Planned& mutant);

struct ProvedEqual;
/// The kernels of those proofs (proved_equal.hpp) that are about one of the campaign's kernels and no mutant of it.
std::vector<std::string> stale_proofs(const Campaign& campaign, std::span<const ProvedEqual> proofs,
                                      backends::SourceTarget target, const harness::Printer& printer);

/// Whether an optimising compiler makes the same code of two kernels.
using SameCode = std::function<Result<bool>(const backends::EmittedKernel&, const backends::EmittedKernel&)>;
/// Whether a kernel is as right in this lane without its barriers `bar.sync 1`: a proof, so that "no" may also mean
/// "not known".
using NeedlessBarrier = std::function<Result<bool>(const backends::BuiltKernel&, backends::Precision)>;
/// What tells that a mutant which passed is right.
struct Proofs {
  SameCode same_code;
  NeedlessBarrier needless_barrier;
};
/// Called for each mutant in the order of completion, never two at once.
using TakeMutant = std::function<Result<void>(const MutantRecord&)>;

/// Makes and judges the planned mutants. Fails when `take` does.
Result<void> run_mutants(const Campaign& campaign, const std::vector<Planned>& plan, backends::Device& device,
                         const harness::Printer& printer, const Proofs& proofs, const TakeMutant& take);

}  // namespace assay::mutation
