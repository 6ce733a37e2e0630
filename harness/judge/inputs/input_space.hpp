// Finds inputs on which a kernel is well defined: extents of the launch, shapes of arrays, values.
//
// The oracle decides: it detects every access outside an array, every read of an unwritten element and every race. A
// draw starts from a guess, runs the oracle, and corrects the guess: an array grows to the index that was used, an
// integer's range narrows, an index array becomes a permutation or a list of offsets that are far apart, a launch
// dimension that makes threads collide shrinks to 1. Later draws reuse these corrections. Annotations above the kernel
// (preconditions.hpp) take precedence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/judge/inputs/preconditions.hpp"
#include "ir/analysis.hpp"
#include "ir/data_dependence.hpp"
#include "ir/index_sources.hpp"
#include "ir/launch.hpp"
#include "reference/cpu/reference.hpp"
#include "support/rng.hpp"

namespace assay::harness {

/// How values are distributed over their domain.
enum class Distribution : std::uint8_t {
  kUniform,         ///< evenly over the range
  kNearBounds,      ///< close to the ends of the range and to zero
  kWideMagnitudes,  ///< magnitudes spread over several powers of two, within the range
  /// A wave along the longest dimension of each array: around each maximum are the next smaller values, and extremes
  /// lie anywhere in a row. Evenly over the range for parameters that are not arrays.
  kWave,
  kTiedValues,  ///< few distinct multiples of a power of two, zero among them: values compare equal, sums are exact
  /// Integers are often the ones that the kernel compares with constants, also negative ones, and some arrays of floats
  /// contain only zeros. For branches that other values do not reach.
  kComparedConstants,
};

/// What a drawn launch should look like.
struct DrawRequest {
  std::uint64_t seed = 0;                              ///< seed of the random values
  Distribution distribution = Distribution::kUniform;  ///< distribution of float values
  /// A number added to each float of an array whose range is not annotated; smaller for float16.
  double float_offset = 0;
  /// Whether the offset is subtracted instead in every second array of floats: large products of elements of two arrays
  /// are then negative.
  bool alternates_offset_sign = false;
  /// A factor for each such float, before the offset is added.
  double float_scale = 1;
  double float_parameter_scale = 1;  ///< the same for float parameters whose range is not annotated
  /// A number added to about one in 29 of these floats.
  double float_outlier = 0;
  /// The value of each float parameter whose range is not annotated. Code often treats 0 and 1 in a special way.
  std::optional<double> float_parameters = std::nullopt;
  /// Whether every third row of each array of floats is zero; in an array of one dimension, every third element.
  bool has_zero_rows = false;
  bool has_negative_zeros = false;  ///< with `has_zero_rows`: whether about half of the zeros are -0.0
  /// Which floats of arrays are exactly at a closed end of their annotated range.
  enum class AtEndsOfRange : std::uint8_t {
    kNone,  ///< only those that are so by chance
    kFew,   ///< one float for each closed end
    kMany,  ///< about one in three
  };
  AtEndsOfRange at_ends_of_range = AtEndsOfRange::kNone;
  /// Whether about one in six floats of arrays whose range is not annotated is NaN or an infinity.
  bool has_nonfinite_floats = false;
  /// Greatest number of bits of integers in arrays that are no indices and whose range is not annotated. These integers
  /// have both signs and all numbers of bits from `least_integer_bits` on, and in every third row all are negative. 0:
  /// as indices, from 0 to the number of threads.
  int integer_bits = 0;
  int least_integer_bits = 0;  ///< with `integer_bits`: the least number of bits
  /// By parameter: whether a signed integer, other than those in arrays, whose range is not annotated is negative.
  /// Empty: none is.
  std::vector<bool> is_negative = {};
  std::int32_t size = 17;  ///< requested extent of the first launch dimension; the others follow from it
  /// Requested extent of array dimensions, independent of the size of the launch; also the value of integers without a
  /// known range. Typically the length of a loop in a thread. 0: the number of threads, or a small number.
  std::int32_t array_extent = 0;
  /// Whether `array_extent` applies only to the dimensions of an array after those of the launch, if it has such: rows
  /// are then long, but there are few.
  bool has_few_rows = false;
  /// Whether each extent that the kernel leaves open is drawn on its own, up to `array_extent`: then extents that the
  /// kernel does not require to be equal differ.
  bool has_independent_extents = false;
  /// Whether all extents that the kernel leaves open are multiples of `array_extent`: code often has a faster path for
  /// sizes that are multiples of the width of a vector or a tile. With `has_independent_extents`, each is another
  /// multiple of it, up to `most_round_extent`.
  bool has_round_extents = false;
  std::int32_t most_round_extent = 48;  ///< see `has_round_extents`
  /// How the extents of arrays relate to those of the launch. Arrays that do not fit the launch make comparisons of
  /// indices with extents have both results.
  enum class ExtentsOfArrays : std::uint8_t {
    kAsLaunch,  ///< as those of the launch, or a small number
    kGreater,   ///< all are greater
    kAny,       ///< most are less, as far as the kernel does not access the missing elements; some are zero or greater
    kOneShort,  ///< those of one dimension are one less than what the kernel accesses; the others are what it accesses
  };
  ExtentsOfArrays extents_of_arrays = ExtentsOfArrays::kAsLaunch;  ///< requested relation
  std::size_t short_dimension = 0;  ///< with kOneShort: the number of that dimension, modulo the rank of the array
  /// With kAny and kOneShort: the extents that the kernel accesses in a launch of this size, by parameter and
  /// dimension; 0 where they are unknown. Empty: the usual extents.
  std::vector<std::vector<std::int32_t>> accessed_extents = {};
  /// With kAny and kOneShort, by parameter: whether the array has the usual extents all the same. Empty: none has.
  std::vector<bool> has_usual_extents = {};
  /// The extent of one dimension.
  struct ChosenExtent {
    ir::VarId parameter = ir::kNone;  ///< the array; ir::kNone for the launch
    std::size_t dimension = 0;        ///< number of the dimension, from 0
    std::int32_t extent = 0;          ///< the requested extent
  };
  /// Extents that do not follow from the other requests.
  std::vector<ChosenExtent> chosen_extents = {};
  /// Whether the inputs are not for the backward pass.
  bool is_for_forward_only = false;
  /// Instruction limit of one evaluation by the oracle; launches that need more are not drawn.
  std::int64_t instruction_budget = 20'000'000;
  std::int64_t max_elements = 1 << 22;  ///< limit on the elements of all arrays together; larger launches are not drawn
};

/// For launches of more threads than this, the oracle evaluates only a sample of the threads, to limit the cost.
inline constexpr std::int64_t kThreadSamplingThreshold = 16'384;
/// Thread numbers of a sample, ascending: the first, the last ones, those around 2^16, and random others. Empty,
/// meaning all threads, for launches that are not large.
std::vector<std::int64_t> sampled_threads(std::int64_t threads, std::uint64_t seed);

/// Why no inputs were found for which the kernel is well defined.
struct InputDrawFailure {
  /// A finding that does not depend on the drawn values is a defect of the kernel; any other may only mean that no
  /// valid inputs were found.
  enum class Reason : std::uint8_t { kNoDomain, kDifferentThreadOrder, kRace, kOutOfBounds, kUninitialized };
  Reason reason = Reason::kNoDomain;          ///< why no inputs were found
  std::string message;                        ///< description for people
  std::optional<reference::Finding> finding;  ///< the oracle's finding for the last inputs tried, if any
  bool is_for_recorded_launch = false;        ///< whether the inputs are those of a recorded launch

  [[nodiscard]] bool is_defect() const { return reason >= Reason::kRace; }
  /// Whether the kernel may be well defined for one order of the threads.
  [[nodiscard]] bool is_order_dependence() const {
    return finding && finding->kind == reference::Finding::Kind::kOrderDependentAtomic;
  }
};

/// Something that the draws assume about the inputs, because otherwise the kernel is not well defined.
struct InputAssumption {
  std::string description;     ///< "the elements of 'idx' are a permutation of its indices"
  std::string domain_comment;  ///< the comment that states it: "# domain: idx is a permutation"; empty if there is none
  friend bool operator==(const InputAssumption&, const InputAssumption&) = default;
};

/// A launch without findings, and the oracle's result.
struct DrawnLaunch {
  ir::Launch launch;                     ///< the launch
  reference::ReferenceResult reference;  ///< the oracle's result for it
  bool has_exact_extents = false;        ///< whether all arrays have exactly the extents that the kernel accesses
};
/// Completes a run of the oracle on a launch with profile and cotangents. InputSpace sets the launch, the uninitialized
/// arrays, the order and the budget.
using CompleteRun = std::function<void(reference::OracleRun&)>;

/// Whether a kernel, or a function of its module, has a while loop.
bool has_while_loop(const ir::Module& module, const ir::Function& kernel);

/// How large arrays are.
enum class ArrayExtents : std::uint8_t {
  kSufficient,  ///< at least as large as the accesses need
  kExact,       ///< as large as the accesses need, as far as the kernel allows it
};

/// Draws launches for which a kernel is well defined, and learns constraints from failed attempts.
class InputSpace {
 public:
  /// Keeps references to the module, the kernel and the oracle.
  static Result<InputSpace> make(const ir::Module& module, const ir::Function& kernel, const reference::Oracle& oracle,
                                 ArrayExtents array_extents = ArrayExtents::kSufficient);

  /// A launch without findings, or why none was found in a bounded number of attempts. The same request after the same
  /// history of requests gives the same launch.
  std::variant<DrawnLaunch, InputDrawFailure> draw(const DrawRequest& request, const CompleteRun& complete);
  /// The evaluation used to draw this launch, to be completed. Keeps a reference to the launch.
  reference::OracleRun run_of(const DrawRequest& request, const ir::Launch& launch) const;
  /// A copy for draws whose failure does not matter. It does not find out the reason of a failure, which takes several
  /// more draws; InputDrawFailure::reason has no meaning then.
  [[nodiscard]] InputSpace trial() const;
  /// The launch alone, forward.
  std::variant<ir::Launch, InputDrawFailure> draw(const DrawRequest& request);

  /// Makes later draws assume that integer arrays in whose elements threads collide are offsets, as `first` in
  /// `y[first[i] + j]`. Otherwise they become permutations. Only before the first draw.
  void assume_offsets() { assumes_offsets_ = true; }

  /// Makes later draws assume that the threads run one after another, in the order of their numbers, because of a
  /// failure to draw inputs for any order. Only before the first draw.
  void fix_thread_order(InputDrawFailure reason) { order_dependence_ = std::move(reason); }
  /// If the draws assume this order: what depends on it.
  [[nodiscard]] const std::optional<InputDrawFailure>& order_dependence() const { return order_dependence_; }

  /// Makes all later launches have these extents; `launch` and the shapes of arrays may be empty, which means that they
  /// are drawn. Fails if the kernel has no such array or dimension.
  Result<void> fix_extents(const std::vector<std::int32_t>& launch,
                           const std::map<std::string, std::vector<std::int32_t>>& shapes);
  [[nodiscard]] bool has_fixed_extents() const { return !fixed_launch_extents_.empty() || !fixed_shapes_.empty(); }
  /// A launch of the fixed extents with more threads than the oracle evaluates, which may have findings; nullopt if the
  /// fixed launch has fewer threads or none is fixed.
  [[nodiscard]] std::optional<ir::Launch> large_fixed_launch(std::uint64_t seed) const;

  ArrayExtents array_extents() const { return array_extents_; }
  /// Whether DrawRequest::has_independent_extents can be requested: extents are exact, and the accesses show the
  /// extents of all results. They do not if the content of an array decides at which index the kernel stores a value.
  [[nodiscard]] bool can_have_independent_extents() const;
  /// Whether the kernel compares integers with constants.
  [[nodiscard]] bool compares_constants() const { return !compared_constants_.empty(); }
  /// Whether the kernel tests whether a float is NaN, infinite or finite.
  [[nodiscard]] bool tests_finiteness() const { return tests_finiteness_; }
  /// Whether the kernel computes with the extents of arrays or compares them, so that DrawRequest::extents_of_arrays
  /// may lead to other branches.
  [[nodiscard]] bool uses_extents() const { return uses_extents_; }
  /// By parameter: arrays that the kernel never reads, so that their initial content must not matter.
  const std::vector<bool>& uninitialized() const { return is_never_read_; }
  const ir::ParameterUses& parameter_uses() const { return parameter_uses_; }
  /// The least and the greatest integer that a domain annotation allows for a parameter in this launch; empty if it
  /// does not state both.
  std::optional<std::pair<std::int64_t, std::int64_t>> integer_range(std::size_t parameter,
                                                                     const ir::Launch& launch) const;
  /// Whether an annotation limits the floats of a parameter, or orders them.
  bool limits_floats(std::size_t parameter) const {
    return preconditions_.range_by_parameter[parameter].has_value() ||
           preconditions_.greatest_elements[parameter] != ir::kNone;
  }
  /// Whether an array contains floats whose annotated range includes an end.
  [[nodiscard]] bool has_closed_float_range() const;
  /// Whether too much of what the launch computes is undefined or unbounded.
  bool is_degenerate(const reference::ReferenceResult& reference) const;

  /// What the draws so far made later draws assume about the inputs, other than extents of arrays and ranges of
  /// integers, which follow from the accesses.
  [[nodiscard]] std::vector<InputAssumption> assumptions() const;
  /// The arrays that exceed the launch by a constant number of elements, as `x` in `x[i + 1]`, because other draws had
  /// no valid inputs. Leaves out dimensions of the launch that an annotation states. Draws two more launches, but
  /// changes nothing.
  [[nodiscard]] std::vector<InputAssumption> longer_arrays(std::uint64_t seed) const;

  /// Whether the kernel reads integers from an array, no annotation states their range, and they are no indices.
  [[nodiscard]] bool has_free_integers() const;

 private:
  InputSpace(const ir::Module& module, const ir::Function& kernel, const reference::Oracle& oracle,
             ArrayExtents array_extents, Preconditions preconditions);

  /// A launch of certain extents, and by parameter and dimension, the least extent that its accesses need.
  struct LaunchWithExtents {
    ir::Launch launch;
    std::vector<std::vector<std::int32_t>> accessed;
  };
  /// Draws one of the two launches of longer_arrays(); empty if the kernel is not well defined for it.
  [[nodiscard]] std::optional<LaunchWithExtents> draw_with_extents(std::size_t number, std::uint64_t seed) const;
  /// Where a thread accesses an array `excess` elements behind its own, if the array is as long as the launch in these
  /// dimensions; empty if none does.
  [[nodiscard]] std::optional<ir::Loc> access_behind_launch(const LaunchWithExtents& drawn, std::size_t parameter,
                                                            std::size_t dimension, std::size_t launch_dimension,
                                                            std::int32_t excess) const;

  /// Finds a launch without findings; its arrays may be larger than the accesses need.
  std::variant<DrawnLaunch, InputDrawFailure> search(const DrawRequest& request, const CompleteRun& complete);
  /// The extents that the arrays of the launch get: those that the accesses need. If the accesses to a dimension depend
  /// on data, they do not show its extent, which is then that of other arrays. Empty if the extents are independent and
  /// one of them is unknown.
  std::optional<std::vector<std::vector<std::int32_t>>> exact_extents(
      const DrawRequest& request, const ir::Launch& launch, std::vector<std::vector<std::int32_t>> accessed) const;
  /// By parameter and dimension: the greatest extent that the accesses need, here or for other values in the arrays, if
  /// several of these values need it; otherwise 0. Empty if data decides about no access.
  std::vector<std::vector<std::int32_t>> extents_for_other_values(
      const DrawRequest& request, const ir::Launch& launch,
      const std::vector<std::vector<std::int32_t>>& accessed) const;
  /// The launch with arrays of these extents, which are not greater than the launch's.
  ir::Launch cropped(const ir::Launch& launch, const std::vector<std::vector<std::int32_t>>& extents) const;
  /// The launch with arrays that are exactly as large as the accesses need; empty if the kernel needs larger ones. If
  /// `keeps_launch` is true, the extents in the launch annotation stay as they are.
  std::optional<DrawnLaunch> with_exact_extents(const DrawRequest& request, const ir::Launch& launch,
                                                const CompleteRun& complete, bool keeps_launch) const;
  /// Whether the launch annotation depends on the extent of an array.
  [[nodiscard]] bool is_launch_of_extents() const;

  /// Empty if the arrays would be too large.
  std::optional<ir::Launch> guess(const DrawRequest& request, std::uint64_t attempt) const;
  /// Draws the elements of an index array that is a list of offsets far apart, or of an array of links.
  void fill_offsets(ir::Argument& argument, std::size_t parameter, std::int64_t least, Rng& rng) const;
  void fill_links(ir::Argument& argument, Rng& rng) const;
  /// Replaces many of the values by constants, for Distribution::kComparedConstants.
  void insert_constants(ir::Argument& argument, Rng& rng) const;
  /// Replaces some of the floats, for DrawRequest::has_nonfinite_floats.
  void insert_nonfinite_floats(ir::Argument& argument, Rng& rng) const;
  /// Replaces some of the floats of an array by the ends of its range in the launch, for DrawRequest::at_ends_of_range.
  void insert_ends_of_range(ir::Argument& argument, const PreconditionRange& range, const ir::Launch& launch,
                            DrawRequest::AtEndsOfRange which, Rng& rng) const;
  /// The distance of the offsets in the array; 0 if it is not a list of offsets.
  [[nodiscard]] std::int64_t spacing_of(std::size_t parameter) const;
  /// The least difference of an offset in the array and the one before in the same row, unless the array is long.
  [[nodiscard]] std::int64_t least_distance_of_offsets(std::size_t parameter) const {
    return spacing_of(parameter) - spacing_of(parameter) / kOffsetJitter;
  }
  /// A seed for a part of the values of a draw.
  static std::uint64_t mixed(std::uint64_t seed, std::uint64_t attempt, std::uint64_t salt);
  /// The extent in the launch annotation if it is a number; otherwise 0.
  std::int32_t annotated_extent(std::size_t dimension) const;
  /// The extent of an array of all meshes, hash grids or hierarchies of boxes; 0 for other arrays and extents.
  std::int32_t spatial_extent(std::string_view path, std::size_t dimension, const DrawRequest& request) const;
  void choose_extents(ir::Launch& launch, const DrawRequest& request) const;
  /// For DrawRequest::ExtentsOfArrays other than kAsLaunch: an extent in place of the usual one.
  static std::int32_t other_extent(std::int32_t usual, const DrawRequest& request, std::size_t number,
                                   std::size_t dimension, std::size_t rank);
  static std::int32_t independent_extent(const DrawRequest& request, std::size_t number, std::size_t dimension);
  /// The extent of DrawRequest::chosen_extents; 0 if there is none for the dimension.
  static std::int32_t chosen_extent(const DrawRequest& request, ir::VarId parameter, std::size_t dimension);
  /// An extent of DrawRequest::has_round_extents.
  static std::int32_t round_extent(const DrawRequest& request, std::size_t dimension);
  void apply_launch_annotation(ir::Launch& launch, const DrawRequest& request) const;
  void bind_values(ir::Launch& launch, const DrawRequest& request, std::uint64_t attempt) const;
  void fill_array(ir::Launch& launch, ir::VarId parameter, const DrawRequest& request, std::uint64_t attempt) const;
  /// Updates the constraints so that the next guess avoids the findings; false if nothing is left to try.
  bool learn(const std::vector<reference::Finding>& findings, const ir::Launch& launch);
  bool learn_out_of_bounds(const reference::Finding& finding, const ir::Launch& launch);
  /// For an index into a vector, a matrix or a thread-private array, which cannot grow: lowers the upper bound of
  /// integers, those in arrays first, or that of thread numbers.
  bool learn_component(const reference::Finding& finding, const ir::Launch& launch);
  /// The same for an index that is a thread number or computed from thread numbers, if the finding is the first one of
  /// the launch: shrinks one dimension of the launch.
  bool learn_index_dimension(const reference::Finding& finding, const ir::Launch& launch);
  /// Whether the launch annotation states the extent of a dimension of the launch.
  [[nodiscard]] bool is_extent_stated(std::size_t dimension) const;
  /// Signed arithmetic overflowed: integers become smaller inside their stated ranges.
  bool learn_overflow(const ir::Launch& launch);
  bool learn_race(const reference::Finding& finding, const ir::Launch& launch);
  /// Threads collided in an array whose indices depend on the contents of other arrays: a launch dimension in which
  /// they differ gets extent 1, because those contents may be such that the threads do not collide.
  bool learn_unit_extent(const reference::Finding& finding, const ir::Launch& launch);
  /// Threads collided in an array: the integer arrays that select its elements become permutations, then lists of
  /// offsets that are further and further apart. False if that did not help either.
  bool learn_separate_indices(const reference::Finding& finding);
  /// A thread did not end: arrays that are walked through their own elements, such as the parents of a tree, get links
  /// to earlier elements.
  bool learn_links();
  /// Arrays grew too large because integers or thread numbers are indices in several dimensions: integers in arrays and
  /// the launch become smaller, and the arrays grow again.
  bool learn_smaller_indices();
  /// Whether an array of three or more dimensions will have so many elements that smaller integers are preferable.
  [[nodiscard]] bool has_too_large_array(const ir::Launch& launch) const;
  /// Whether integers of the array select elements of arrays, directly or through other arrays.
  [[nodiscard]] bool is_index_source(std::size_t parameter) const;
  /// Whether the kernel reads integers from the array, and no annotation states their range.
  [[nodiscard]] bool is_free_integer_array(std::size_t parameter) const;
  /// Whether elements of the array select other elements of it, directly or through other arrays.
  [[nodiscard]] bool is_linked(std::size_t parameter) const;
  /// In a kernel with while loops: keeps the launch if one of the findings is an access right behind the end of an
  /// array.
  void keep_access_behind_end(const std::vector<reference::Finding>& findings, const ir::Launch& launch);
  /// If a launch was kept and the array is longer in the other one: records the array if an access is still right
  /// behind its end with the floats of the launch that was kept, so that only floats end the loop.
  void check_access_behind_end(const DrawRequest& request, const ir::Launch& launch_with_longer_array);
  /// Records the extents that tiles need; true if an array was smaller, so that a larger one is worth trying.
  bool learn_tiles(const reference::ReferenceResult& reference);
  /// Extent of an array that tiles are loaded from or stored to: what they need or, in every other draw, a little less,
  /// so that some tiles extend past its end.
  std::int32_t tile_extent(std::size_t parameter, std::size_t dimension, const DrawRequest& request) const;
  /// Whether other draws of the same request have the same finding in the same threads and elements, and a draw with
  /// other extents has a finding, too.
  bool is_persistent(const reference::Finding& finding, DrawRequest request) const;
  /// The numbers of a thread in the dimensions of a launch.
  static std::vector<std::int32_t> thread_numbers(std::int64_t thread, const std::vector<std::int32_t>& extents);
  /// The end of a message about a race: the launch annotation under which these two threads do not both exist; empty if
  /// there is a launch annotation or the launch has one dimension.
  [[nodiscard]] std::string launch_hint(const reference::Finding& race, const std::vector<std::int32_t>& extents) const;
  [[nodiscard]] static bool needs_larger_array(const reference::Finding& finding);
  InputDrawFailure::Reason reason_of(const reference::Finding& finding, const DrawRequest& request) const;

  const ir::Module* module_;                              ///< module of the kernel
  const ir::Function* kernel_;                            ///< the kernel
  const reference::Oracle* oracle_;                       ///< the oracle for the kernel
  ArrayExtents array_extents_;                            ///< how large arrays are
  Preconditions preconditions_;                           ///< annotations above the kernel
  ir::ParameterUses parameter_uses_;                      ///< how the kernel uses its parameters
  std::vector<ir::ParameterIndexSources> index_sources_;  ///< by parameter: the arrays that select its elements
  std::vector<std::int64_t> compared_constants_;          ///< integers that the kernel compares with, ascending
  bool uses_extents_ = false;      ///< whether the kernel computes with extents of arrays or compares them
  bool tests_finiteness_ = false;  ///< whether the kernel tests whether a float is NaN, infinite or finite
  std::vector<ir::DataDependence> data_dependences_;  ///< by parameter; empty if extents are not exact
  std::vector<bool> is_never_read_;  ///< by parameter: whether it is an array that the kernel never reads
  bool visits_faces_;                ///< whether the kernel visits the faces of a mesh in their order
  bool has_groups_of_faces_;         ///< whether the kernel uses the groups of faces
  bool uses_tiles_;  ///< whether the kernel uses tiles; each launch thread then stands for a block, which is expensive
  bool has_while_loop_;  ///< whether the kernel, or a function of its module, has a while loop

  std::vector<std::int32_t> fixed_launch_extents_;                 ///< see fix_extents()
  std::map<std::string, std::vector<std::int32_t>> fixed_shapes_;  ///< see fix_extents()
  bool assumes_offsets_ = false;                                   ///< see assume_offsets()
  std::optional<InputDrawFailure> order_dependence_;               ///< see order_dependence()
  bool is_trial_ = false;                                          ///< whether this is a copy made by trial()

  // Constraints learned from earlier draws.

  /// By parameter and dimension: the least extent that holds the indices used.
  std::vector<std::vector<std::int32_t>> min_array_shape_;
  /// By parameter and dimension: the least extent that contains every tile that the kernel accesses; 0 for dimensions
  /// that the tiles do not have, empty if the kernel accesses no tile of the array.
  std::vector<std::vector<std::int32_t>> min_shape_covering_tiles_;
  /// Whether arrays always hold whole tiles, because the zeros past the end of a tile of indices would be repeated.
  bool has_whole_tiles_ = false;
  std::vector<std::int64_t> min_integer_;  ///< by parameter: lower bound of an integer without annotation
  /// Upper bounds of integers without annotation, if some were used to index vector components.
  std::int64_t max_array_integer_ = std::numeric_limits<std::int64_t>::max();  ///< upper bound of integers in arrays
  std::int64_t max_integer_parameter_ =
      std::numeric_limits<std::int64_t>::max();  ///< upper bound of integer parameters
  /// Upper bound on the magnitude of integers with a stated range, because larger ones were seen to overflow.
  std::int64_t max_magnitude_without_overflow_ = std::numeric_limits<std::int64_t>::max();
  /// Upper bound on the extents of launches that are not large, because larger ones were seen to need large arrays.
  std::int32_t max_drawn_extent_ = kUnlimited;
  /// By launch dimension: upper bound on its extent, because its thread numbers are indices of components, or to avoid
  /// a race.
  std::vector<std::int32_t> max_launch_extent_;
  std::vector<bool> draws_permutation_;  ///< by parameter: whether an index array is drawn as a permutation
  /// By parameter: how many of the spacings of `learn.cpp` were tried for the array; the last one is in use.
  std::vector<std::size_t> spacing_step_;
  /// What arrays that are walked through their own elements contain: a link to an element before it, or for the first
  /// element, to itself or to -1.
  enum class Links : std::uint8_t { kNone, kToFirst, kToNegative };
  Links links_ = Links::kNone;
  bool draws_positive_floats_ = false;  ///< whether floats without annotation are drawn positive
  /// A launch with an access whose index in one dimension equals the extent of the array.
  struct AccessBehindEnd {
    ir::Launch launch;                         ///< the launch
    std::size_t parameter = 0, dimension = 0;  ///< the array and the dimension
  };
  std::optional<AccessBehindEnd> access_behind_end_;  ///< see keep_access_behind_end()
  /// By the number of a parameter: where a while loop accesses this array and only floats end the loop.
  std::map<std::size_t, ir::Loc> accesses_without_limit_;
  /// Number of the attempt at which the last draw succeeded. Before this attempt, the next draw does not compute
  /// gradients, because they are the most expensive part.
  std::uint64_t last_successful_attempt_ = kNoAttempt;
  /// Value of last_successful_attempt_ before the first success.
  static constexpr std::uint64_t kNoAttempt = std::numeric_limits<std::uint64_t>::max();
  /// Upper bound of extents that are not limited.
  static constexpr std::int32_t kUnlimited = std::numeric_limits<std::int32_t>::max();
  /// The greatest extent of an array that is drawn.
  static constexpr std::int32_t kLargestExtent = 1 << 17;
  /// An offset exceeds a multiple of the distance by less than a part of the distance; this is the part's denominator.
  static constexpr std::int64_t kOffsetJitter = 4;
};

}  // namespace assay::harness
