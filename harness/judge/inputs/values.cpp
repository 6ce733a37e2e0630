// The values of the arguments that InputSpace draws.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/judge/inputs/input_space.hpp"
#include "ir/builder.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::harness {
namespace {

using namespace ir;

/// The largest integer, counted from the least, that all index arrays of a draw have in common.
constexpr std::int64_t kMostMeeting = 2;
constexpr std::int64_t kLargestInteger = 12;
/// Ties use between one and two times this many steps of the range; every other draw uses fewer.
constexpr double kTieSteps = 8;
constexpr double kLow = -2, kHigh = 2, kPositiveLow = 0.1;

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
/// The greatest number of elements of an array of waves, which do not repeat.
constexpr std::int64_t kLongestWaves = 1 << 14;

/// Fills a dense array with copies of its first elements.
void repeat_elements(Argument& argument, std::int64_t period) {
  const std::size_t filled = element_offset(argument, period);
  for (std::size_t at = filled; at < argument.bytes.size(); at += filled)
    std::memcpy(argument.bytes.data() + at, argument.bytes.data(), std::min(filled, argument.bytes.size() - at));
}

/// The values of Distribution::kWave for one array.
class Wave {
 public:
  /// Draws wavelength and phase of a wave with one maximum. Keeps a reference to the array.
  Wave(const Argument& array, Rng& rng)
      : array_(array),
        longest_(std::ranges::max_element(array.shape)),
        angle_of_step_(rng.uniform_real(0.75, 1) * 2 * std::numbers::pi / *longest_),
        phase_(rng.uniform_real(0, 2 * std::numbers::pi)) {}

  /// The value of a scalar component of an element.
  [[nodiscard]] double value(std::int64_t element, std::size_t component, Interval interval) const {
    const std::int64_t step =
        std::accumulate(longest_ + 1, array_.shape.end(), std::int64_t{1}, std::multiplies<std::int64_t>());
    const std::int64_t position = element / step % *longest_;
    // Any other row or component has another phase. Irrational multiples of a turn are never equal.
    const auto wave_number = static_cast<double>(element / step / *longest_ * step + element % step);
    const double phase =
        phase_ + std::numbers::sqrt2 * wave_number + std::numbers::sqrt3 * static_cast<double>(component);
    const double height = 0.5 + 0.5 * std::sin(phase + angle_of_step_ * static_cast<double>(position));
    return interval.low + (interval.high - interval.low) * height;
  }

 private:
  const Argument& array_;
  std::vector<std::int32_t>::const_iterator longest_;  ///< the longest dimension
  double angle_of_step_;                               ///< angle between neighboring elements of a row, in radians
  double phase_;                                       ///< phase of the first row, in radians
};

/// Whether the element of a dense array is in one of the rows, every third, that get special values.
bool is_in_special_row(const Argument& array, std::int64_t element) {
  const std::int64_t row_length = element_count(array) / array.shape.front();
  return element / row_length % 3 == 1;
}

/// The magnitude of an integer with a random number of bits in the range, as far as the type can represent it.
std::int64_t draw_magnitude(Rng& rng, Scalar scalar, int least_bits, int most_bits) {
  const int most = std::min(most_bits, row(scalar).significant_bits);
  const std::int64_t limit = (std::int64_t{1} << rng.uniform_int(std::min(least_bits, most), most)) - 1;
  return rng.uniform_int<std::int64_t>((limit + 1) / 2, limit);
}

/// Sets the floats in special rows of a dense array to zero. If `has_negative_zeros` is true, two zeros in turn are
/// negative and two are positive, so that rows begin with either.
void clear_rows(const ir::Module& module, Argument& argument, bool has_negative_zeros) {
  for (const ScalarComponent& component : scalar_components(module, argument.type.element())) {
    if (!is_float(component.scalar)) continue;
    for (std::int64_t element = 0; element < element_count(argument); ++element) {
      if (!is_in_special_row(argument, element)) continue;
      const double zero = has_negative_zeros && element / 2 % 2 == 0 ? -0.0 : 0.0;
      write_float(component.scalar, argument.bytes.data() + element_offset(argument, element) + component.offset, zero);
    }
  }
}

/// Number of arrays of floats among the parameters before this one.
std::int64_t count_float_arrays(const ir::Function& kernel, VarId end) {
  return std::count_if(kernel.variables.begin(), kernel.variables.begin() + end, [](const ir::Variable& variable) {
    return variable.type.is_array() && variable.type.has_float_components();
  });
}

/// Rounded to the type, and kept inside the closed interval.
double fitted(Scalar scalar, double value, Interval interval) {
  std::byte memory[8] = {};
  write_float(scalar, memory, value);
  const double rounded = read_float(scalar, memory);
  return rounded < interval.low || rounded > interval.high ? std::clamp(value, interval.low, interval.high) : rounded;
}

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

void InputSpace::fill_offsets(Argument& argument, std::size_t parameter, std::int64_t least, Rng& rng) const {
  const std::int64_t spacing = spacing_of(parameter);
  const std::int64_t count = element_count(argument);
  const std::int64_t row_length = argument.shape.back();
  // The elements of all rows are far apart unless the offsets would become too large.
  const std::int64_t period = count * spacing <= kLargestExtent ? count : row_length;
  const std::vector<ScalarComponent> components = scalar_components(*module_, argument.type.element());
  for (std::int64_t element = 0; element < count; ++element) {
    const std::int64_t value =
        least + element % period * spacing + rng.uniform_int<std::int64_t>(0, spacing / kOffsetJitter);
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

void InputSpace::insert_nonfinite_floats(Argument& argument, Rng& rng) const {
  constexpr double kShare = 1.0 / 6;
  constexpr double kValues[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  const std::int64_t stride = argument.strides.back();  // the array is dense
  for (std::int64_t element = 0; element < element_count(argument); ++element) {
    for (const ScalarComponent& component : scalar_components(*module_, argument.type.element())) {
      if (is_float(component.scalar) && rng.bernoulli(kShare))
        write_float(component.scalar, argument.bytes.data() + element * stride + component.offset, rng.choose(kValues));
    }
  }
}

bool InputSpace::has_closed_float_range() const {
  for (VarId p = 0; p < kernel_->parameter_count; ++p) {
    const auto& range = preconditions_.range_by_parameter[static_cast<std::size_t>(p)];
    const Type type = kernel_->var(p).type;
    if (!range || !type.is_array() || !type.element().has_float_components()) continue;
    if ((range->low && !range->is_low_open) || (range->high && !range->is_high_open)) return true;
  }
  return false;
}

void InputSpace::insert_ends_of_range(Argument& argument, const PreconditionRange& range, const Launch& launch,
                                      DrawRequest::AtEndsOfRange which, Rng& rng) const {
  constexpr double kShareOfEnd = 1.0 / 6;
  const std::int64_t count = element_count(argument);
  const std::int64_t stride = argument.strides.back();  // the array is dense
  const auto insert = [&](const std::optional<PreconditionTerm>& end, bool is_open) {
    if (!end || is_open || count == 0) return;
    const double value = end->evaluate(launch);
    const std::int64_t single = rng.uniform_int<std::int64_t>(0, count - 1);
    for (const ScalarComponent& component : scalar_components(*module_, argument.type.element())) {
      // An end such as 0.1 may be rounded to a number outside of the range.
      if (!is_float(component.scalar) || round_to(component.scalar, value) != value) continue;
      for (std::int64_t element = 0; element < count; ++element) {
        const bool is_chosen =
            which == DrawRequest::AtEndsOfRange::kFew ? element == single : rng.bernoulli(kShareOfEnd);
        if (is_chosen)
          write_float(component.scalar, argument.bytes.data() + element * stride + component.offset, value);
      }
    }
  };
  insert(range.low, range.is_low_open);
  insert(range.high, range.is_high_open);
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
  if (is_integer_value && !range && p < request.is_negative.size() && request.is_negative[p] &&
      row(argument.type.scalar).is_signed)
    return write_integer(argument.type.scalar, argument.bytes.data(),
                         -rng.uniform_int<std::int64_t>(1, kLargestInteger));
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
  const bool is_short_wave = request.distribution == Distribution::kWave && count <= kLongestWaves;
  const bool repeats = count > kPeriod && !permutation && !ties && !is_short_wave;
  const std::int64_t drawn = repeats ? kPeriod : count;
  const std::int64_t stride = is_array ? argument.strides.back() : 0;  // the array is dense
  const bool has_any_magnitude = is_array && request.integer_bits > 0 && !range && !is_index_source(p);
  const bool is_offset_down = request.alternates_offset_sign && count_float_arrays(*kernel_, parameter) % 2 == 1;
  const double float_offset = is_offset_down ? -request.float_offset : request.float_offset;
  std::optional<Wave> wave;
  if (is_array && request.distribution == Distribution::kWave) wave.emplace(argument, rng);
  for (std::int64_t element = 0; element < drawn; ++element) {
    std::byte* at = argument.bytes.data() + element * stride;
    for (const ScalarComponent& component : components) {
      if (is_float(component.scalar)) {
        const bool is_free = is_array && !range;
        const double offset = is_free ? offset_for(component.scalar, float_offset) : 0;
        const double scale = range ? 1 : is_array ? request.float_scale : request.float_parameter_scale;
        const Interval interval{real.low * scale + offset, real.high * scale + offset};
        constexpr double kOutlierShare = 1.0 / 29;
        if (request.float_parameters && !is_array && !range) {
          write_float(component.scalar, at + component.offset, *request.float_parameters);
          continue;
        }
        const bool is_outlier = is_free && request.float_outlier != 0 && rng.bernoulli(kOutlierShare);
        const auto component_number = static_cast<std::size_t>(&component - components.data());
        const double value = (wave ? wave->value(element, component_number, interval)
                                   : draw_float(rng, interval, request.distribution)) +
                             (is_outlier ? offset_for(component.scalar, request.float_outlier) : 0);
        write_float(component.scalar, at + component.offset,
                    is_outlier ? value : fitted(component.scalar, value, interval));
      } else if (component.scalar == Scalar::kBool) {
        write_integer(component.scalar, at + component.offset, rng.uniform_int<std::int64_t>(0, 1));
      } else if (permutation) {
        write_integer(component.scalar, at + component.offset, order[static_cast<std::size_t>(element)]);
      } else if (has_any_magnitude) {
        const std::int64_t magnitude =
            draw_magnitude(rng, component.scalar, request.least_integer_bits, request.integer_bits);
        const bool is_negative = is_in_special_row(argument, element) || rng.bernoulli(0.5);
        write_integer(component.scalar, at + component.offset,
                      is_negative && row(component.scalar).is_signed ? -magnitude : magnitude);
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
  if (request.has_zero_rows && is_array && !range) clear_rows(*module_, argument, request.has_negative_zeros);
  if (request.at_ends_of_range != DrawRequest::AtEndsOfRange::kNone && is_array && range)
    insert_ends_of_range(argument, *range, launch, request.at_ends_of_range, rng);
  if (request.has_nonfinite_floats && is_array && !range) insert_nonfinite_floats(argument, rng);
  if (preconditions_.must_be_separate_triangles[p]) draw_separate_triangles(argument, integer_low, integer_high, rng);
  if (preconditions_.must_be_triangles[p]) separate_corners(argument, integer_low, integer_high);
}

std::optional<std::pair<std::int64_t, std::int64_t>> InputSpace::integer_range(std::size_t parameter,
                                                                               const Launch& launch) const {
  const auto& range = preconditions_.range_by_parameter[parameter];
  if (!range || !range->low || !range->high) return std::nullopt;
  return std::pair{range->least_integer(launch), range->greatest_integer(launch)};
}

}  // namespace assay::harness
