// Random numbers that are the same on every platform, so that a seed identifies a kernel or an input permanently.
//
// The distributions of the standard library differ between implementations; here every step from seed to number is
// fixed. Any change here changes the kernels of existing names.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "support/hash.hpp"

namespace assay {

/// A stream of random numbers. The n-th 64-bit draw is mix(seed + n * golden ratio): SplitMix64 of Steele, Lea and
/// Flood ("Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). Cheap to copy; a copy repeats the rest of the
/// stream.
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  /// Returns a uniformly distributed 64-bit value.
  constexpr std::uint64_t next() {
    state_ += kGoldenRatio;
    return mix(state_);
  }

  /// A uniformly distributed integer in [low, high]; low <= high.
  template <class Int = std::int64_t>
  constexpr Int uniform_int(Int low, Int high) {
    static_assert(sizeof(Int) <= sizeof(std::uint64_t));
    assert(low <= high);
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    return static_cast<Int>(static_cast<std::uint64_t>(low) + uniform_up_to(span));
  }

  /// A double in [0, 1), a multiple of 2^-53.
  constexpr double uniform_real() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

  /// Returns a double in [low, high]. low <= high, and both must be finite. `high` itself occurs only by rounding.
  constexpr double uniform_real(double low, double high) {
    assert(low <= high);
    const double t = uniform_real();
    return low * (1.0 - t) + high * t;
  }

  /// True with the given probability; never for 0, always for 1.
  constexpr bool bernoulli(double probability) { return uniform_real() < probability; }

  /// A uniformly chosen element of a container with size() and operator[], which must not be empty.
  template <class Container>
  constexpr decltype(auto) choose(const Container& container) {
    assert(container.size() > 0);
    return container[uniform_int<std::size_t>(0, container.size() - 1)];
  }
  template <class T, std::size_t kSize>
  constexpr const T& choose(const T (&array)[kSize]) {
    return array[uniform_int<std::size_t>(0, kSize - 1)];
  }

  /// Puts the elements of a container with size() and operator[] into random order (Fisher and Yates).
  template <class Container>
  constexpr void shuffle(Container& container) {
    for (std::size_t left = container.size(); left > 1; --left) {
      using std::swap;
      swap(container[left - 1], container[uniform_int<std::size_t>(0, left - 1)]);
    }
  }

  /// An independent stream for a named or numbered part of the work. It depends on the state of this stream and on the
  /// label, and does not advance this stream: additional draws in one part do not affect the others.
  [[nodiscard]] constexpr Rng split(std::string_view label) const { return Rng(mix(state_ ^ fnv1a(label))); }
  [[nodiscard]] constexpr Rng split(std::uint64_t index) const { return Rng(mix(state_ ^ mix(~index))); }

 private:
  static constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  ///< increment of the state

  /// Mixes the bits of a number so that similar numbers give very different results.
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
  }

  /// Returns a uniformly distributed integer in [0, span], by drawing as many bits as `span` has until the number fits.
  constexpr std::uint64_t uniform_up_to(std::uint64_t span) {
    std::uint64_t mask = span;
    for (unsigned shift = 1; shift < 64; shift *= 2)
      mask |= mask >> shift;
    std::uint64_t draw = next() & mask;
    while (draw > span)
      draw = next() & mask;
    return draw;
  }

  std::uint64_t state_;  ///< state of the stream; the next draw adds kGoldenRatio to it
};

}  // namespace assay
