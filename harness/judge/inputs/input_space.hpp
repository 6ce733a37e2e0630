// Finds inputs on which a kernel is well defined: extents of the launch, shapes of arrays, values.
//
// The oracle is the judge: it knows every access outside an array, every read of an unwritten cell and every race.
// A draw starts from a guess, runs the oracle, and mends what it finds: an array grows to the index that was used, an
// integer's range narrows, an index array becomes a permutation, a dimension of the launch that makes threads collide
// shrinks to 1. What a draw learns stays for the next. Comments above the kernel (hints.hpp) are honoured first.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/judge/inputs/preconditions.hpp"
#include "ir/analysis.hpp"
#include "ir/launch.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// From where in its domain a value is drawn.
enum class Distribution : std::uint8_t {
  kUniform,  ///< evenly over the range
  kEdges,    ///< close to the ends of the range and to zero
  kScales,   ///< magnitudes spread over several powers of two, within the range
  kTies,     ///< few distinct multiples of a power of two, zero among them: values compare equal, sums are exact
};

struct DrawRequest {
  std::uint64_t seed = 0;
  Distribution distribution = Distribution::kUniform;
  std::int32_t size = 17;  ///< wanted extent of the first launch dimension; further ones follow from it
  /// Wanted extent of the dimensions of arrays, whatever the launch's, and value of an integer of which nothing is
  /// known: what a thread walks over. 0: as many as threads, or a few where no launch dimension gives it.
  std::int32_t row = 0;
  /// Of the oracle, for one evaluation; a launch that needs more is not drawn.
  std::int64_t instruction_budget = 20'000'000;
  std::int64_t most_elements = 1 << 22;  ///< of all arrays together; a launch with more is not drawn
};

/// Above this many threads the oracle runs a sample of them, so that judging stays affordable.
inline constexpr std::int64_t kSampledAbove = 16'384;
/// Thread numbers of a sample, ascending: the first, the last ones, those about 2^16, and others at random. Empty,
/// which stands for all, for launches that are not large.
std::vector<std::int64_t> sampled_threads(std::int64_t threads, std::uint64_t seed);

/// Why no defined run was found.
struct NoInputs {
  /// What the finding shows about the kernel. A finding that does not depend on the values drawn is a defect of the
  /// kernel; another one may only mean that no valid inputs were found.
  enum class Reason : std::uint8_t { kNoDomain, kOrder, kRace, kOutOfBounds, kUninitialized };
  Reason reason = Reason::kNoDomain;
  std::string message;
  std::optional<reference::Finding> finding;

  [[nodiscard]] bool is_defect() const { return reason >= Reason::kRace; }
};

/// A launch without findings and what the oracle says of it.
struct Drawn {
  ir::Launch launch;
  reference::Reference reference;
};
/// Completes a run of the oracle on a launch: profile, seeds. The launch, the uninitialised arrays, the order and the
/// budget are the space's to set.
using CompleteRun = std::function<void(reference::Run&)>;

class InputSpace {
 public:
  /// Keeps references to all three.
  static Result<InputSpace> make(const ir::Module& module, const ir::Function& kernel, const reference::Oracle& oracle);

  /// A launch without findings, or why there is none after a bounded number of tries. The same request on the same
  /// history of requests gives the same launch.
  std::variant<Drawn, NoInputs> draw(const DrawRequest& request, const CompleteRun& complete);
  /// The evaluation that a draw of this launch is, to be completed. Keeps a reference to the launch.
  reference::Run run_of(const DrawRequest& request, const ir::Launch& launch) const;
  /// The launch alone, forward.
  std::variant<ir::Launch, NoInputs> draw(const DrawRequest& request);

  /// By parameter: arrays that the kernel never reads, whose content must not matter.
  const std::vector<bool>& uninitialised() const { return uninitialised_; }
  const ir::ParameterUses& uses() const { return uses_; }

 private:
  InputSpace(const ir::Module& module, const ir::Function& kernel, const reference::Oracle& oracle,
             Preconditions preconditions);

  /// Nothing if the arrays would be too large.
  std::optional<ir::Launch> guess(const DrawRequest& request, std::uint64_t attempt) const;
  /// What a hint says that the launch's extent is, where that is a number; else 0.
  std::int32_t stated_extent(std::size_t dimension) const;
  void choose_extents(ir::Launch& launch, const DrawRequest& request) const;
  void bind_values(ir::Launch& launch, const DrawRequest& request, std::uint64_t attempt) const;
  void fill_array(ir::Launch& launch, ir::VarId parameter, const DrawRequest& request, std::uint64_t attempt) const;
  /// Changes what is known so that the next guess avoids the findings; false if nothing is left to try.
  bool learn(const std::vector<reference::Finding>& findings, const ir::Launch& launch);
  bool learn_out_of_bounds(const reference::Finding& finding, const ir::Launch& launch);
  /// Of an index into a vector, a matrix or the thread's own array, which cannot grow: integers become less, those in
  /// arrays first.
  bool learn_component(const reference::Finding& finding);
  bool learn_race(const reference::Finding& finding, const ir::Launch& launch);
  /// Notes how far tiles reach; true if an array was smaller than its tiles ask for, so that a larger one tells more.
  bool learn_tiles(const reference::Reference& reference);
  /// Of an array that tiles come from or go to: what they ask for or, in every other draw, a little less, so that some
  /// tiles reach over its end.
  std::int32_t tile_extent(std::size_t parameter, std::size_t dimension, const DrawRequest& request) const;
  /// Whether other draws of the same request have the same finding in the same threads and elements.
  bool is_persistent(const reference::Finding& finding, DrawRequest request) const;
  NoInputs::Reason reason_of(const reference::Finding& finding, const DrawRequest& request) const;
  /// Whether too much of what the launch computes is undefined or unbounded.
  bool is_degenerate(const reference::Reference& reference) const;

  const ir::Module* module_;
  const ir::Function* kernel_;
  const reference::Oracle* oracle_;
  Preconditions preconditions_;
  ir::ParameterUses uses_;
  std::vector<bool> uninitialised_;
  bool tiled_;  ///< the threads of a launch are blocks, each of which does a good deal

  // What draws have learnt.
  std::vector<std::vector<std::int32_t>> least_shape_;  ///< by parameter and dimension: indices that were used
  std::vector<std::vector<std::int32_t>> tile_shape_;   ///< the same: extents that would hold all tiles; empty without
  std::vector<std::int64_t> least_integer_;             ///< by parameter: lower end of unhinted integers
  /// Greatest of unhinted integers, where some were seen to choose components of vectors.
  std::int64_t most_element_ = std::numeric_limits<std::int64_t>::max();  ///< of those in arrays
  std::int64_t most_value_ = std::numeric_limits<std::int64_t>::max();    ///< of parameters
  std::vector<bool> permuted_;  ///< by parameter: index arrays made permutations
  std::vector<bool> single_;    ///< by launch dimension: extent 1
  bool positive_ = false;       ///< unhinted floats are drawn positive
  /// At which attempt the last draw succeeded. Before it the gradient, which costs most, is not asked for: an attempt
  /// that fails teaches as much without.
  std::uint64_t promising_attempt_ = kUnknown;
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace assay::harness
