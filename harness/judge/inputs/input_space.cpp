#include "harness/judge/inputs/input_space.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "ir/compared_constants.hpp"
#include "ir/data_dependence.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::Finding;

constexpr int kTries = 24;
/// The largest integer, counted from the least, that all index arrays of a draw have in common.
constexpr std::int64_t kMostMeeting = 2;
/// Number of draws with other values that must repeat a finding before it counts as a defect of the kernel.
constexpr int kConfirmingDraws = 2;
/// Extents of the launch and of the arrays of a further such draw.
constexpr std::int32_t kConfirmingThreads = 5, kConfirmingExtent = 23;
/// How many attempts may exhaust their instructions: each takes as long as judging a kernel.
constexpr int kMostEndless = 3;
/// Total instructions of the failed attempts of one draw: some seconds.
constexpr std::int64_t kMostWasted = 20'000'000;
constexpr int kSample = 96;
/// Number of last threads in each sample: these reach farthest.
constexpr std::int64_t kLastSampled = 24;
constexpr double kMaxAnnotatedThreads = 1e6;  ///< unless more are requested
constexpr std::int64_t kLargestInteger = 12;
/// Ties use between one and two times this many steps of the range; every other draw uses fewer.
constexpr double kTieSteps = 8;
constexpr double kLow = -2, kHigh = 2, kPositiveLow = 0.1;

bool has_path(const ir::Function& kernel, std::string_view path) {
  return std::ranges::find(kernel.variables, path, &ir::Variable::path) != kernel.variables.end();
}

/// The number of elements of an array, or `most` if that is less. The product of large extents exceeds 64 bits.
std::int64_t elements_up_to(const std::vector<std::int32_t>& shape, std::int64_t most) {
  std::int64_t elements = 1;
  for (const std::int32_t extent : shape)
    elements = extent > 0 && elements > most / extent ? most : elements * extent;
  return std::min(elements, most);
}

/// Exchanges the scalars of two dense arrays of the same type where the first is greater.
void order_elements(const ir::Module& module, Argument& low, Argument& high) {
  const std::int64_t count = std::min(element_count(low), element_count(high));
  for (const ScalarComponent& component : scalar_components(module, low.type.element())) {
    for (std::int64_t element = 0; element < count; ++element) {
      std::byte* const a = low.bytes.data() + element * low.strides.back() + component.offset;
      std::byte* const b = high.bytes.data() + element * high.strides.back() + component.offset;
      const double first = read_float(component.scalar, a);
      const double second = read_float(component.scalar, b);
      if (first <= second) continue;
      write_float(component.scalar, a, second);
      write_float(component.scalar, b, first);
    }
  }
}

struct Interval {
  double low;
  double high;
};

double draw_float(Rng& rng, Interval interval, Distribution distribution) {
  const auto [low, high] = interval;
  const double width = high - low;
  if (distribution == Distribution::kNearBounds) {
    const double near = width * 0x1p-6 * rng.uniform_real();
    const int where = rng.uniform_int(0, 2);
    if (where == 2 && low < 0 && high > 0) return rng.bernoulli(0.5) ? near : -near;
    return where == 0 ? low + near : high - near;
  }
  if (distribution == Distribution::kTiedValues) {
    const double steps = rng.bernoulli(0.5) ? kTieSteps : 2;
    const double step = std::exp2(std::floor(std::log2(width / steps)));
    const double first = std::ceil(low / step);
    const double last = std::floor(high / step);
    return step > 0 && first < last ? step * std::floor(rng.uniform_real(first, last + 1)) : low;
  }
  if (distribution == Distribution::kWideMagnitudes) {
    const double magnitude = std::ldexp(rng.uniform_real(0.5, 1.0), -rng.uniform_int(0, 6));
    if (low >= 0) return low + width * magnitude;
    if (high <= 0) return high - width * magnitude;
    return rng.bernoulli(0.5) ? high * magnitude : low * magnitude;
  }
  return rng.uniform_real(low, high);
}

/// The offset for values of this type: exp() of an offset that is just in range for float32 overflows in float16.
double offset_for(Scalar scalar, double offset) {
  constexpr double kFloat16Share = 0.11;
  return scalar == Scalar::kF16 ? kFloat16Share * offset : offset;
}

/// Long arrays, except permutations and ties, repeat after this many elements, which is not a multiple of any extent:
/// drawing 65,539 elements takes longer than everything else.
constexpr std::int64_t kPeriod = 1'021;

/// Fills a dense array with copies of its first elements.
void repeat_elements(Argument& argument, std::int64_t period) {
  const std::size_t filled = element_offset(argument, period);
  for (std::size_t at = filled; at < argument.bytes.size(); at += filled)
    std::memcpy(argument.bytes.data() + at, argument.bytes.data(), std::min(filled, argument.bytes.size() - at));
}

/// Rounded to the type, and kept inside the closed interval.
double fitted(Scalar scalar, double value, Interval interval) {
  std::byte memory[8] = {};
  write_float(scalar, memory, value);
  const double rounded = read_float(scalar, memory);
  return rounded < interval.low || rounded > interval.high ? std::clamp(value, interval.low, interval.high) : rounded;
}

}  // namespace

std::vector<std::int64_t> sampled_threads(std::int64_t threads, std::uint64_t seed) {
  if (threads <= kThreadSamplingThreshold) return {};
  std::vector<std::int64_t> sample{0, std::min<std::int64_t>(65'535, threads - 1),
                                   std::min<std::int64_t>(65'536, threads - 1)};
  for (std::int64_t last = 1; last <= kLastSampled; ++last)
    sample.push_back(threads - last);
  Rng rng(seed);
  for (int i = 0; i < kSample; ++i)
    sample.push_back(rng.uniform_int<std::int64_t>(0, threads - 1));
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

Result<InputSpace> InputSpace::make(const Module& module, const Function& kernel, const reference::Oracle& oracle,
                                    ArrayExtents array_extents) {
  Result<Preconditions> preconditions = parse_preconditions(module, kernel);
  if (!preconditions.ok()) return preconditions.error();
  return InputSpace(module, kernel, oracle, array_extents, preconditions.take());
}

InputSpace::InputSpace(const Module& module, const Function& kernel, const reference::Oracle& oracle,
                       ArrayExtents array_extents, Preconditions preconditions)
    : module_(&module),
      kernel_(&kernel),
      oracle_(&oracle),
      array_extents_(array_extents),
      preconditions_(std::move(preconditions)),
      parameter_uses_(parameter_use(module, kernel)),
      index_sources_(index_sources(module, kernel)),
      compared_constants_(compared_constants(module, kernel)),
      uses_extents_(ir::uses_extents(module, kernel)),
      visits_faces_(has_path(kernel, ir::kMeshOrderPath)),
      has_groups_of_faces_(has_path(kernel, ir::kMeshGroupsPath)),
      uses_tiles_(uses_tiles(kernel)) {
  if (array_extents == ArrayExtents::kExact)
    has_data_dependent_accesses_ = ir::has_data_dependent_accesses(module, kernel);
  const auto count = static_cast<std::size_t>(kernel.parameter_count);
  for (std::size_t p = 0; p < count; ++p) {
    const Type type = kernel.variables[p].type;
    is_never_read_.push_back(type.is_array() && !parameter_uses_[p].read && !parameter_uses_[p].is_atomically_updated);
    min_array_shape_.emplace_back(type.rank, 0);
    min_shape_covering_tiles_.emplace_back();
  }
  min_integer_.assign(count, 0);
  draws_permutation_.assign(count, false);
  spacing_step_.assign(count, 0);
  has_unit_extent_.assign(static_cast<std::size_t>(kernel.launch_rank), false);
}

Result<void> InputSpace::fix_extents(const std::vector<std::int32_t>& launch,
                                     const std::map<std::string, std::vector<std::int32_t>>& shapes) {
  if (!launch.empty() && launch.size() != static_cast<std::size_t>(kernel_->launch_rank))
    return Error{fmt::format("'threads' in the contract must have {} extents, as the launch of the specification has",
                             kernel_->launch_rank)};
  for (const auto& [name, shape] : shapes) {
    const auto end = kernel_->variables.begin() + kernel_->parameter_count;
    const auto parameter = std::find_if(kernel_->variables.begin(), end,
                                        [&](const ir::Variable& variable) { return variable.name == name; });
    if (parameter == end || !parameter->type.is_array())
      return Error{fmt::format("'shapes' in the contract must name arrays of the specification, got '{}'", name)};
    if (shape.size() != parameter->type.rank)
      return Error{fmt::format("'shapes' in the contract must state {} extents for '{}'", parameter->type.rank, name)};
  }
  fixed_launch_extents_ = launch;
  fixed_shapes_ = shapes;
  return {};
}

std::optional<Launch> InputSpace::large_fixed_launch(std::uint64_t seed) const {
  std::int64_t threads = 1;
  for (const std::int32_t extent : fixed_launch_extents_)
    threads *= extent;
  if (fixed_launch_extents_.empty() || threads <= kThreadSamplingThreshold) return std::nullopt;
  constexpr std::int64_t kMostElements = 1 << 26;
  return guess({.seed = seed, .max_elements = kMostElements}, 0);
}

std::optional<Launch> InputSpace::guess(const DrawRequest& request, std::uint64_t attempt) const {
  Launch launch;
  choose_extents(launch, request);
  std::int64_t elements = 0;
  for (VarId p = 0; p < kernel_->parameter_count; ++p) {
    const Type type = kernel_->var(p).type;
    std::vector<std::int32_t> shape;
    for (std::size_t d = 0; d < type.rank; ++d) {
      const std::size_t from = std::min(d, launch.extents.size() - 1);
      const bool beyond = d >= launch.extents.size();
      const std::int32_t few = request.array_extent > 0 ? request.array_extent : 6;
      const bool is_long =
          request.long_dimension && request.long_dimension->parameter == p && request.long_dimension->dimension == d;
      const std::int32_t spatial = spatial_extent(kernel_->var(p).path, d, request);
      const std::int32_t guessed =
          spatial > 0                       ? spatial
          : is_long                         ? request.long_dimension->extent
          : request.has_independent_extents ? independent_extent(request, static_cast<std::size_t>(p) + 1, d)
          : beyond                          ? few + static_cast<std::int32_t>(d)
                   : std::max({launch.extents[from], request.array_extent, annotated_extent(from)});
      const std::int32_t least = min_array_shape_[static_cast<std::size_t>(p)][d];
      const bool of_tiles = !min_shape_covering_tiles_[static_cast<std::size_t>(p)].empty();
      const bool is_other = request.extents_of_arrays != DrawRequest::ExtentsOfArrays::kAsLaunch && spatial == 0;
      const std::int32_t held = of_tiles   ? tile_extent(static_cast<std::size_t>(p), d, request)
                                : is_other ? other_extent(guessed, request, static_cast<std::size_t>(p), d, type.rank)
                                           : guessed;
      shape.push_back(std::max(held, least));
    }
    if (const auto fixed = fixed_shapes_.find(kernel_->var(p).name); fixed != fixed_shapes_.end())
      shape = fixed->second;
    if (type.is_array()) elements += elements_up_to(shape, request.max_elements + 1);
    if (elements > request.max_elements) return std::nullopt;
    launch.arguments.push_back(make_argument(*module_, type, std::move(shape)));
  }
  // An annotation with an integer parameter or an array's length sets that value; other terms set the launch.
  for (std::size_t d = 0; d < preconditions_.launch_extents.size(); ++d) {
    const PreconditionTerm& term = preconditions_.launch_extents[d];
    if (term.kind == PreconditionTerm::Kind::kExtent) {
      Argument& argument = launch.arguments[static_cast<std::size_t>(term.parameter)];
      auto shape = argument.shape;
      shape[static_cast<std::size_t>(term.dimension)] = launch.extents[d];
      argument = make_argument(*module_, argument.type, std::move(shape));
    }
  }
  bind_values(launch, request, attempt);
  apply_launch_annotation(launch, request);
  return launch;
}

/// Sets the extents of the launch that an annotation states.
void InputSpace::apply_launch_annotation(Launch& launch, const DrawRequest& request) const {
  const double most_threads = std::max<double>(kMaxAnnotatedThreads, request.size);
  for (std::size_t d = 0; d < preconditions_.launch_extents.size(); ++d) {
    if (preconditions_.launch_extents[d].kind == PreconditionTerm::Kind::kOpen) continue;
    launch.extents[d] =
        static_cast<std::int32_t>(std::clamp(preconditions_.launch_extents[d].evaluate(launch), 0.0, most_threads));
  }
}

void InputSpace::bind_values(Launch& launch, const DrawRequest& request, std::uint64_t attempt) const {
  // Integers first: ranges of other parameters may use them.
  for (VarId p = 0; p < kernel_->parameter_count; ++p) {
    if (kernel_->var(p).type.is_integer_scalar()) fill_array(launch, p, request, attempt);
  }
  for (std::size_t d = 0; d < preconditions_.launch_extents.size(); ++d) {
    const PreconditionTerm& term = preconditions_.launch_extents[d];
    if (term.kind != PreconditionTerm::Kind::kParameter) continue;
    Argument& argument = launch.arguments[static_cast<std::size_t>(term.parameter)];
    std::int64_t extent = launch.extents[d];
    const auto& range = preconditions_.range_by_parameter[static_cast<std::size_t>(term.parameter)];
    if (range && range->high) extent = std::min(extent, range->greatest_integer(launch));
    if (range && range->low) extent = std::max(extent, range->least_integer(launch));
    write_integer(argument.type.scalar, argument.bytes.data(), extent);
  }
  for (VarId p = 0; p < kernel_->parameter_count; ++p) {
    if (!kernel_->var(p).type.is_integer_scalar()) fill_array(launch, p, request, attempt);
  }
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    if (const VarId most = preconditions_.greatest_elements[p]; most != ir::kNone)
      order_elements(*module_, launch.arguments[p], launch.arguments[static_cast<std::size_t>(most)]);
  }
}

namespace {

/// Fills each row of a dense array with the integers from low to high, each once, in random order. In a longer row,
/// they are repeated.
void draw_separate_triangles(Argument& argument, std::int64_t low, std::int64_t high, Rng& rng) {
  if (argument.shape.empty() || high < low) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(high - low + 1));
  std::iota(order.begin(), order.end(), low);
  const std::int64_t row_length = argument.shape.back();
  for (std::int64_t element = 0; element < element_count(argument); ++element) {
    const auto place = static_cast<std::size_t>(element % row_length) % order.size();
    if (place == 0) rng.shuffle(order);
    write_integer(argument.type.scalar, argument.bytes.data() + element * argument.strides.back(), order[place]);
  }
}

/// Changes the integers in the rows of a dense array so that each three of them differ, from the first one on.
void separate_corners(Argument& argument, std::int64_t low, std::int64_t high) {
  if (argument.shape.empty() || high - low < 2) return;
  const std::int64_t row_length = argument.shape.back();
  const std::int64_t count = element_count(argument);
  const auto at = [&](std::int64_t element) { return argument.bytes.data() + element * argument.strides.back(); };
  const Scalar scalar = argument.type.scalar;
  for (std::int64_t element = 0; element < count; ++element) {
    const std::int64_t earlier = element % row_length % 3;
    std::int64_t value = read_integer(scalar, at(element));
    const auto is_taken = [&] {
      return (earlier > 0 && read_integer(scalar, at(element - 1)) == value) ||
             (earlier > 1 && read_integer(scalar, at(element - 2)) == value);
    };
    while (is_taken())
      value = value < high ? value + 1 : low;
    write_integer(scalar, at(element), value);
  }
}

}  // namespace

void InputSpace::fill_offsets(Argument& argument, std::size_t parameter, std::int64_t least, Rng& rng) const {
  const std::int64_t spacing = spacing_of(parameter);
  const std::int64_t count = element_count(argument);
  const std::int64_t row_length = argument.shape.back();
  // The elements of all rows are far apart unless the offsets would become too large.
  const std::int64_t period = count * spacing <= kLargestExtent ? count : row_length;
  const std::vector<ScalarComponent> components = scalar_components(*module_, argument.type.element());
  for (std::int64_t element = 0; element < count; ++element) {
    const std::int64_t value = least + element % period * spacing + rng.uniform_int<std::int64_t>(0, spacing / 4);
    for (const ScalarComponent& component : components)
      write_integer(component.scalar, argument.bytes.data() + element * argument.strides.back() + component.offset,
                    value);
  }
}

void InputSpace::fill_links(Argument& argument, Rng& rng) const {
  const std::int64_t row_length = argument.shape.back();
  const std::int64_t least = links_ == Links::kToNegative ? -1 : 0;
  const std::vector<ScalarComponent> components = scalar_components(*module_, argument.type.element());
  for (std::int64_t element = 0; element < element_count(argument); ++element) {
    const std::int64_t greatest = std::max(element % row_length - 1, least);
    for (const ScalarComponent& component : components)
      write_integer(component.scalar, argument.bytes.data() + element * argument.strides.back() + component.offset,
                    rng.uniform_int<std::int64_t>(least, greatest));
  }
}

void InputSpace::insert_constants(Argument& argument, Rng& rng) const {
  // All elements are one constant, or many of them are constants, or none is. A branch that depends on several arrays
  // is taken if all of them have the right value.
  enum class Kind : std::uint8_t { kNone, kMany, kAll };
  const auto kind = static_cast<Kind>(rng.uniform_int(0, 2));
  const std::int64_t count = element_count(argument);
  const std::int64_t stride = argument.type.is_array() ? argument.strides.back() : 0;
  constexpr double kShareOfZeroArrays = 0.125;
  const bool is_zero = rng.bernoulli(kShareOfZeroArrays);
  const auto constant = [&] {
    return compared_constants_[rng.uniform_int<std::size_t>(0, compared_constants_.size() - 1)];
  };
  const std::int64_t chosen = compared_constants_.empty() ? 0 : constant();
  const bool has_constants = !compared_constants_.empty() && kind != Kind::kNone;
  for (const ScalarComponent& component : scalar_components(*module_, argument.type.element())) {
    for (std::int64_t element = 0; element < count; ++element) {
      std::byte* at = argument.bytes.data() + element * stride + component.offset;
      if (is_float(component.scalar)) {
        if (is_zero && argument.type.is_array()) write_float(component.scalar, at, 0);
      } else if (is_integer(component.scalar) && has_constants) {
        if (kind == Kind::kAll) write_integer(component.scalar, at, chosen);
        else if (rng.bernoulli(0.5)) write_integer(component.scalar, at, constant());
      }
    }
  }
}

void InputSpace::fill_array(Launch& launch, VarId parameter, const DrawRequest& request, std::uint64_t attempt) const {
  const auto p = static_cast<std::size_t>(parameter);
  Argument& argument = launch.arguments[p];
  Rng rng(mixed(request.seed, attempt, p + 1));
  const bool is_array = argument.type.is_array();
  const std::int64_t count = element_count(argument);
  const std::int32_t first_extent = std::max(launch.extents[0], 1);

  Interval real{draws_positive_floats_ ? kPositiveLow : kLow, kHigh};
  const std::int64_t least = min_integer_[p];
  std::int64_t integer_low = least;
  // Integers in arrays may be indices; those of volumes are not.
  const std::int64_t index_end = std::max(first_extent, request.array_extent);
  const bool is_index = is_array && kernel_->var(parameter).path != kVolumeIntsPath;
  std::int64_t integer_high = is_index ? std::max(index_end - 1, least) : kLargestInteger;
  integer_high = std::max(std::min(integer_high, is_array ? max_array_integer_ : max_integer_parameter_), least);
  const auto& range = preconditions_.range_by_parameter[p];
  if (range && range->low) {
    real.low = range->low->evaluate(launch);
    integer_low = range->least_integer(launch);
    if (real.low > real.high) real.high = real.low + 2;
    integer_high = std::max(integer_high, integer_low);
  }
  if (range && range->high) {
    real.high = range->high->evaluate(launch);
    integer_high = range->greatest_integer(launch);
    if (real.low > real.high) real.low = real.high - 2;
    integer_low = std::min(integer_low, std::max<std::int64_t>(integer_high, 0));
  }
  const bool reaches_down =
      integer_low < -max_magnitude_without_overflow_ && integer_high >= -max_magnitude_without_overflow_;
  const bool reaches_up =
      integer_high > max_magnitude_without_overflow_ && integer_low <= max_magnitude_without_overflow_;
  if (reaches_down) integer_low = -max_magnitude_without_overflow_;
  if (reaches_up) integer_high = max_magnitude_without_overflow_;
  if (range && range->is_low_open) real.low = std::nextafter(static_cast<float>(real.low), HUGE_VALF);
  if (range && range->is_high_open) real.high = std::nextafter(static_cast<float>(real.high), -HUGE_VALF);

  const bool is_integer_value = !is_array && argument.type.is_integer_scalar();
  if (is_integer_value && range && integer_low <= integer_high) {
    // Long loops if possible; for kNearBounds, one end of the range for even seeds and the other end for odd ones.
    const auto write = [&](std::int64_t value) { write_integer(argument.type.scalar, argument.bytes.data(), value); };
    if (request.array_extent > 0)
      return write(std::clamp<std::int64_t>(request.array_extent, integer_low, integer_high));
    if (request.distribution == Distribution::kNearBounds)
      return write(request.seed % 2 == 0 ? integer_low : integer_high);
  }
  // An integer parameter without annotation is often the number of elements or threads: every other draw uses that.
  const bool is_constant = is_integer_value && request.distribution == Distribution::kComparedConstants;
  if (is_integer_value && !range && !is_constant && (request.seed % 2 == 0 || request.array_extent > 0)) {
    return write_integer(argument.type.scalar, argument.bytes.data(),
                         std::min(std::max<std::int64_t>({first_extent, least, request.array_extent}),
                                  std::max(max_integer_parameter_, least)));
  }
  if (links_ != Links::kNone && is_linked(p)) return fill_links(argument, rng);
  if (spacing_of(p) > 0) return fill_offsets(argument, p, integer_low, rng);
  const bool permutation = preconditions_.must_be_permutation[p] || draws_permutation_[p];
  std::vector<std::int64_t> order;
  if (permutation) {
    order.resize(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), integer_low);
    if (request.distribution == Distribution::kTiedValues) std::reverse(order.begin(), order.end());
    else rng.shuffle(order);
  }
  // Index arrays whose elements are all equal, and descending ones. In every other draw, the elements of all arrays are
  // equal: both ends of an edge are the same node, or everything is in the group that is looked for.
  const bool ties = is_array && request.distribution == Distribution::kTiedValues;
  Rng shared(mixed(request.seed, attempt, 0));
  const bool meets_other_arrays = ties && shared.bernoulli(0.5);
  const bool backwards = ties && rng.bernoulli(0.5) && !meets_other_arrays;
  const std::int64_t greatest = std::max(integer_low, integer_high);
  const std::int64_t own = ties ? rng.uniform_int<std::int64_t>(integer_low, greatest) : integer_low;
  const std::int64_t meeting =
      meets_other_arrays ? std::min(integer_low + shared.uniform_int<std::int64_t>(0, kMostMeeting), greatest) : own;
  const std::vector<ScalarComponent> components = scalar_components(*module_, argument.type.element());
  const bool repeats = count > kPeriod && !permutation && !ties;
  const std::int64_t drawn = repeats ? kPeriod : count;
  const std::int64_t stride = is_array ? argument.strides.back() : 0;  // the array is dense
  for (std::int64_t element = 0; element < drawn; ++element) {
    std::byte* at = argument.bytes.data() + element * stride;
    for (const ScalarComponent& component : components) {
      if (is_float(component.scalar)) {
        const bool is_free = is_array && !range;
        const double offset = is_free ? offset_for(component.scalar, request.float_offset) : 0;
        const double scale = is_free ? request.float_scale : 1;
        const Interval interval{real.low * scale + offset, real.high * scale + offset};
        constexpr double kOutlierShare = 1.0 / 29;
        const bool is_outlier = is_free && request.float_outlier != 0 && rng.bernoulli(kOutlierShare);
        const double value = draw_float(rng, interval, request.distribution) +
                             (is_outlier ? offset_for(component.scalar, request.float_outlier) : 0);
        write_float(component.scalar, at + component.offset,
                    is_outlier ? value : fitted(component.scalar, value, interval));
      } else if (component.scalar == Scalar::kBool) {
        write_integer(component.scalar, at + component.offset, rng.uniform_int<std::int64_t>(0, 1));
      } else if (permutation) {
        write_integer(component.scalar, at + component.offset, order[static_cast<std::size_t>(element)]);
      } else if (ties) {
        const std::int64_t range_length = std::max(integer_high - integer_low, std::int64_t{0}) + 1;
        write_integer(component.scalar, at + component.offset,
                      backwards ? integer_low + range_length - 1 - element % range_length : meeting);
      } else {
        const std::int64_t high = std::max(integer_low, integer_high);
        const bool edge = request.distribution == Distribution::kNearBounds;
        const std::int64_t value =
            edge ? (rng.bernoulli(0.5) ? integer_low : high) : rng.uniform_int<std::int64_t>(integer_low, high);
        write_integer(component.scalar, at + component.offset, value);
      }
    }
  }
  const bool is_bound = range || permutation;
  if (request.distribution == Distribution::kComparedConstants && !is_bound) insert_constants(argument, rng);
  if (repeats) repeat_elements(argument, kPeriod);
  if (preconditions_.must_be_separate_triangles[p]) draw_separate_triangles(argument, integer_low, integer_high, rng);
  if (preconditions_.must_be_triangles[p]) separate_corners(argument, integer_low, integer_high);
}

std::optional<std::pair<std::int64_t, std::int64_t>> InputSpace::integer_range(std::size_t parameter,
                                                                               const Launch& launch) const {
  const auto& range = preconditions_.range_by_parameter[parameter];
  if (!range || !range->low || !range->high) return std::nullopt;
  return std::pair{range->least_integer(launch), range->greatest_integer(launch)};
}

bool InputSpace::is_degenerate(const reference::ReferenceResult& reference) const {
  std::int64_t floats = 0;
  std::int64_t undefined = 0;
  for (const auto& output : reference.outputs) {
    if (!output) continue;
    for (std::size_t i = 0; i < output->elements.size(); ++i) {
      const std::size_t cell = output->element_indices.empty() ? i : output->element_indices[i];
      if (!is_float(output->components[cell % output->components.size()]) || !output->elements[i].is_written) continue;
      ++floats;
      const auto& element = output->elements[i];
      undefined += !std::isfinite(element.value) || std::isinf(element.bound[reference::kNative]);
    }
  }
  return undefined * 10 > floats;
}

reference::OracleRun InputSpace::run_of(const DrawRequest& request, const Launch& launch) const {
  reference::OracleRun run{.launch = launch,
                           .uninitialized = is_never_read_,
                           .thread_order = {},
                           .instruction_budget = request.instruction_budget};
  // Only the sets for large launches are judged by a sample of their threads. Other launches may have many threads,
  // too, because of an annotation; all of these run.
  if (request.size > kThreadSamplingThreshold) run.thread_order = sampled_threads(launch.threads(), request.seed);
  run.reports_only_accessed_elements = !run.thread_order.empty();
  return run;
}

bool InputSpace::is_persistent(const Finding& finding, DrawRequest request) const {
  if (is_confirming_) return true;
  for (int draw = 0; draw < kConfirmingDraws; ++draw) {
    request.seed = mixed(request.seed, static_cast<std::uint64_t>(draw), 1);
    const std::optional<Launch> launch = guess(request, kTries);
    if (!launch) return false;
    const reference::ReferenceResult reference = oracle_->evaluate(run_of(request, *launch));
    const bool again = std::ranges::any_of(reference.findings, [&](const Finding& other) {
      return other.kind == finding.kind && other.loc.line == finding.loc.line && other.parameter == finding.parameter &&
             other.index == finding.index && other.thread == finding.thread &&
             other.earlier_thread == finding.earlier_thread;
    });
    if (!again) return false;
  }
  // The kernel may be well defined where the extents of arrays decide which threads access what.
  InputSpace other = *this;
  other.is_confirming_ = true;
  request.size = kConfirmingThreads;
  request.array_extent = kConfirmingExtent;
  return std::holds_alternative<InputDrawFailure>(other.search(request, [](reference::OracleRun&) {}));
}

/// Whether a larger array than those that are drawn would have the element: Warp's extents have 31 bits.
bool InputSpace::needs_larger_array(const Finding& finding) {
  return finding.kind == Finding::Kind::kOutOfBounds && finding.parameter != kNone &&
         std::ranges::any_of(finding.index, [](std::int64_t index) {
           const std::int64_t least_extent = index < 0 ? -index : index + 1;
           return least_extent > kLargestExtent && least_extent <= std::numeric_limits<std::int32_t>::max();
         });
}

InputDrawFailure::Reason InputSpace::reason_of(const Finding& finding, const DrawRequest& request) const {
  using Reason = InputDrawFailure::Reason;
  Reason reason = Reason::kNoDomain;
  if (needs_larger_array(finding)) return reason;
  switch (finding.kind) {
    case Finding::Kind::kRace: reason = Reason::kRace; break;
    case Finding::Kind::kOrderDependentAtomic: return Reason::kDifferentThreadOrder;
    case Finding::Kind::kOutOfBounds: reason = Reason::kOutOfBounds; break;
    case Finding::Kind::kUninitializedRead: reason = Reason::kUninitialized; break;
    default: return Reason::kNoDomain;
  }
  if (is_persistent(finding, request)) return reason;
  return finding.kind == Finding::Kind::kRace ? Reason::kDifferentThreadOrder : Reason::kNoDomain;
}

std::vector<std::vector<std::int32_t>> InputSpace::exact_extents(
    const Launch& launch, std::vector<std::vector<std::int32_t>> accessed) const {
  // By dimension and extent in the launch: the extent that the accesses need; 0 where two arrays differ.
  std::map<std::pair<std::size_t, std::int32_t>, std::int32_t> needed;
  for (std::size_t p = 0; p < accessed.size(); ++p) {
    const std::vector<std::int32_t>& shape = launch.arguments[p].shape;
    const bool is_accessed = std::ranges::find(accessed[p], 0) == accessed[p].end();
    if (!is_accessed) accessed[p] = shape;
    if (!is_accessed || has_data_dependent_accesses_[p]) continue;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto [known, is_new] = needed.try_emplace({d, shape[d]}, accessed[p][d]);
      if (!is_new && known->second != accessed[p][d]) known->second = 0;
    }
  }
  for (std::size_t p = 0; p < accessed.size(); ++p) {
    if (!has_data_dependent_accesses_[p]) continue;
    const std::vector<std::int32_t>& shape = launch.arguments[p].shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto known = needed.find({d, shape[d]});
      const bool holds_all = known != needed.end() && known->second >= accessed[p][d];
      accessed[p][d] = holds_all ? known->second : shape[d];
    }
  }
  return accessed;
}

Launch InputSpace::cropped(const Launch& launch, const std::vector<std::vector<std::int32_t>>& extents) const {
  Launch result{.extents = launch.extents, .arguments = {}};
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    const Argument& whole = launch.arguments[p];
    if (extents[p] == whole.shape) {
      result.arguments.push_back(whole);
      continue;
    }
    Argument part = make_argument(*module_, whole.type, extents[p]);
    const auto element_bytes = static_cast<std::size_t>(part.strides.back());
    std::vector<std::int32_t> index(part.shape.size(), 0);
    for (std::int64_t number = 0; number < element_count(part); ++number) {
      std::int64_t number_in_whole = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        number_in_whole = number_in_whole * whole.shape[d] + index[d];
      std::memcpy(part.bytes.data() + element_offset(part, number),
                  whole.bytes.data() + element_offset(whole, number_in_whole), element_bytes);
      for (std::size_t d = index.size(); d-- > 0 && ++index[d] == part.shape[d];)
        index[d] = 0;
    }
    result.arguments.push_back(std::move(part));
  }
  return result;
}

std::optional<DrawnLaunch> InputSpace::with_exact_extents(const DrawRequest& request, const Launch& launch,
                                                          const CompleteRun& complete) const {
  // A loop over an extent accesses less once that extent is smaller.
  constexpr int kMostSteps = 4;
  DrawnLaunch drawn{.launch = launch, .reference = {}};
  for (int step = 0; step < kMostSteps; ++step) {
    // Threads outside the sample of a large launch access elements, too.
    reference::OracleRun all = run_of(request, drawn.launch);
    all.thread_order.clear();
    all.reports_only_accessed_elements = true;
    all.records_extents = true;
    const reference::ReferenceResult accessed = oracle_->evaluate(all);
    if (!accessed.is_complete || !accessed.findings.empty()) return std::nullopt;
    Launch smaller = cropped(drawn.launch, exact_extents(drawn.launch, accessed.accessed_extents));
    // The annotation may depend on the extents of the arrays. The extents of outputs then follow from the new launch.
    apply_launch_annotation(smaller, request);
    for (std::size_t p = 0; smaller.extents != drawn.launch.extents && p < smaller.arguments.size(); ++p)
      if (parameter_uses_[p].changed()) smaller.arguments[p] = drawn.launch.arguments[p];
    const bool is_exact =
        smaller.extents == drawn.launch.extents &&
        std::ranges::equal(smaller.arguments, drawn.launch.arguments, {}, &Argument::shape, &Argument::shape);
    if (!is_exact) {
      drawn.launch = std::move(smaller);
      continue;
    }
    reference::OracleRun run = run_of(request, drawn.launch);
    complete(run);
    drawn.reference = oracle_->evaluate(run);
    if (!drawn.reference.is_complete || !drawn.reference.findings.empty()) return std::nullopt;
    drawn.has_exact_extents = true;
    return drawn;
  }
  return std::nullopt;
}

std::variant<DrawnLaunch, InputDrawFailure> InputSpace::draw(const DrawRequest& request, const CompleteRun& complete) {
  auto found = search(request, complete);
  const auto* const drawn = std::get_if<DrawnLaunch>(&found);
  if (drawn == nullptr || array_extents_ != ArrayExtents::kExact || has_fixed_extents()) return found;
  if (auto exact = with_exact_extents(request, drawn->launch, complete)) return *std::move(exact);
  return found;
}

std::variant<DrawnLaunch, InputDrawFailure> InputSpace::search(const DrawRequest& request,
                                                               const CompleteRun& complete) {
  std::optional<Finding> last;
  int endless = 0;
  std::int64_t wasted = 0;
  for (std::uint64_t attempt = 0; attempt < kTries && endless < kMostEndless && wasted < kMostWasted; ++attempt) {
    std::optional<Launch> launch = guess(request, attempt);
    if (!launch) {
      if (learn_smaller_indices()) continue;
      return InputDrawFailure{
          .message = fmt::format("the kernel's indices require arrays of more than {} elements", request.max_elements),
          .finding = {}};
    }
    DrawnLaunch drawn{.launch = *std::move(launch), .reference = {}};
    reference::OracleRun run = run_of(request, drawn.launch);
    complete(run);
    const bool wants_gradient = run.computes_gradient;
    run.computes_gradient = wants_gradient && attempt >= last_successful_attempt_;
    drawn.reference = oracle_->evaluate(run);
    const bool may_enlarge = drawn.reference.findings.empty() || has_whole_tiles_;
    if (may_enlarge && learn_tiles(drawn.reference) && attempt + 1 < kTries) continue;
    if (drawn.reference.findings.empty()) {
      if (draws_positive_floats_ || !is_degenerate(drawn.reference)) {
        last_successful_attempt_ = attempt;
        if (run.computes_gradient != wants_gradient) {
          run.computes_gradient = true;
          drawn.reference = oracle_->evaluate(run);
        }
        return drawn;
      }
      draws_positive_floats_ = true;
      last_successful_attempt_ = kNoAttempt;
      continue;
    }
    if (run.computes_gradient) last_successful_attempt_ = kNoAttempt;
    last = drawn.reference.findings.front();
    if (!drawn.reference.is_complete && request.size > kThreadSamplingThreshold) break;
    const Links links = links_;
    learn(drawn.reference.findings, drawn.launch);
    if (links_ != links) continue;
    wasted += drawn.reference.instructions;
    endless += drawn.reference.is_complete ? 0 : 1;
  }
  if (!last) {
    return InputDrawFailure{.message = "found no inputs for which the kernel is well defined", .finding = {}};
  }
  std::string message = reference::describe(*last, *module_, *kernel_);
  if (needs_larger_array(*last))
    message += fmt::format("; Assay draws arrays of at most {} elements in each dimension", kLargestExtent);
  return InputDrawFailure{.reason = reason_of(*last, request), .message = std::move(message), .finding = last};
}

std::variant<Launch, InputDrawFailure> InputSpace::draw(const DrawRequest& request) {
  auto drawn = draw(request, [](reference::OracleRun&) {});
  if (auto* none = std::get_if<InputDrawFailure>(&drawn)) return std::move(*none);
  return std::move(std::get<DrawnLaunch>(drawn).launch);
}

}  // namespace assay::harness
