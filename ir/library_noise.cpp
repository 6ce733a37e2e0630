// Warp's library: gradient noise (K. Perlin, "Improving Noise", SIGGRAPH 2002) in one to four dimensions, with the
// random numbers of the generator of wp.rand_init.
#include <array>
#include <vector>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

constexpr Type kState = scalar_type(Scalar::kU32);

E number(E like, std::int64_t value) { return {like.b, like.b->literal(kState, value)}; }
E as(Type type, E x) { return {x.b, x.b->cast(type, x.id)}; }

/// One step of the generator: state -> next state.
E next_state(LibraryFunctionBuilder& d) {
  const E next = d.let("next", d[0] * number(d[0], 747796405) + number(d[0], 2891336453));
  const auto shifted = [](E x, E by) { return call(Op::kShiftRight, x, by); };
  const E amount = shifted(next, number(next, 28)) + number(next, 4);
  const E word = d.let("word", call(Op::kBitXor, shifted(next, amount), next) * number(next, 277803737));
  return call(Op::kBitXor, shifted(word, number(word, 22)), word);
}

/// The random unit vector of a lattice point; a number in [-1, 1) in one dimension.
E lattice_vector(LibraryFunctionBuilder& d, int dimensions) {
  constexpr std::array<std::int64_t, 4> kPrimes = {73856093, 19349663, 53471161, 10000019};
  const auto product = [&](int k) {
    return as(kState, d[static_cast<std::size_t>(k + 1)]) * number(d[0], kPrimes[static_cast<std::size_t>(k)]);
  };
  E hash = product(dimensions - 1) + d[0];
  for (int k = dimensions - 2; k >= 0; --k)
    hash = call(Op::kBitXor, product(k), hash);
  std::vector<E> drawn;
  E state = hash;
  for (int k = 0; k < dimensions; ++k) {
    state = d.let("state", d.library("random_step", {state}));
    const E unit = as(kF32, call(Op::kShiftRight, state, number(state, 8)));
    drawn.push_back({unit.b, unit.b->op(Op::kMul, {unit.id, unit.b->f32(0x1p-24)})});
  }
  if (dimensions == 1) return 2.0 * drawn[0] - 1.0;
  for (E& component : drawn)
    component = component - 0.5;
  return call(Op::kNormalize, make(vector_type(Scalar::kF32, dimensions), drawn));
}

/// A point in a cell of the lattice.
struct Cell {
  std::vector<E> low, high;  ///< indices of the lattice points on both sides
  std::vector<E> offset;     ///< position in the cell, in [0, 1)
};

/// The cell of the point d[1]; its indices repeat with the periods d[2], ... if `is_periodic`.
Cell cell_of(LibraryFunctionBuilder& d, E point, bool is_periodic) {
  Cell cell;
  for (int k = 0; k < point.type().components(); ++k) {
    const auto wrapped = [&](E index) {
      return is_periodic ? call(Op::kMod, index, d[static_cast<std::size_t>(2 + k)]) : index;
    };
    const E floor = d.let("floor", call(Op::kFloor, component(point, k)));
    cell.offset.push_back(d.let("offset", component(point, k) - floor));
    cell.low.push_back(d.let("low", wrapped(as(kI32, floor))));
    cell.high.push_back(d.let("high", wrapped(cell.low.back() + E{point.b, point.b->i32(1)})));
  }
  return cell;
}

/// The noise at a point, and its gradient.
struct Level {
  E value, gradient;
};

class Noise {
 public:
  Noise(LibraryFunctionBuilder& d, E state, const Cell& cell, bool has_gradient)
      : d_(d), state_(state), cell_(cell), has_gradient_(has_gradient) {
    for (const E t : cell.offset)
      weights_.push_back(d.let("weight", t * t * t * (10.0 + t * (6.0 * t - 15.0))));
  }

  Level all() { return interpolated(static_cast<int>(cell_.offset.size()), 0); }

 private:
  /// Interpolated in the first `dimensions` dimensions; bit k of `corner` selects the high side in dimension k.
  Level interpolated(int dimensions, unsigned corner) {
    if (dimensions == 0) return at_corner(corner);
    const int k = dimensions - 1;
    const Level low = interpolated(k, corner);
    const Level high = interpolated(k, corner | 1U << k);
    const E t = cell_.offset[static_cast<std::size_t>(k)];
    const E weight = weights_[static_cast<std::size_t>(k)];
    const E difference = d_.let("difference", high.value - low.value);
    Level result{d_.let("value", difference * weight + low.value), low.gradient};
    if (has_gradient_) {
      const E slope = difference * (30.0 * t * t * (1.0 + t * (t - 2.0)));
      std::vector<E> along(cell_.offset.size(), like(t, 0));
      along[static_cast<std::size_t>(k)] = slope;
      result.gradient =
          d_.let("gradient", (high.gradient - low.gradient) * weight + make(low.gradient.type(), along) + low.gradient);
    }
    return result;
  }

  Level at_corner(unsigned corner) {
    std::vector<E> operands{state_};
    for (std::size_t k = 0; k < cell_.low.size(); ++k)
      operands.push_back((corner >> k & 1U) != 0 ? cell_.high[k] : cell_.low[k]);
    const E vector = d_.let("vector", d_.library("lattice_vector", operands));
    std::vector<E> terms;
    for (std::size_t k = 0; k < cell_.low.size(); ++k) {
      const E t = cell_.offset[k];
      terms.push_back(((corner >> k & 1U) != 0 ? t - 1.0 : t) * component(vector, static_cast<int>(k)));
    }
    return {d_.let("value", sum(terms)), vector};
  }

  LibraryFunctionBuilder& d_;
  E state_;
  Cell cell_;
  bool has_gradient_;
  std::vector<E> weights_;
};

E noise(LibraryFunctionBuilder& d) { return Noise(d, d[0], cell_of(d, d[1], false), false).all().value; }
E periodic_noise(LibraryFunctionBuilder& d) { return Noise(d, d[0], cell_of(d, d[1], true), false).all().value; }
E noise_gradient(LibraryFunctionBuilder& d) { return Noise(d, d[0], cell_of(d, d[1], false), true).all().gradient; }

/// The state of wp.rand_init(state, offset).
E derived_state(LibraryFunctionBuilder& d, E state, std::int64_t offset) {
  return d.library("random_step", {state + d.library("random_step", {number(state, offset)})});
}

/// The curl of one potential in two dimensions, of three potentials otherwise, summed over octaves.
E curl_noise(LibraryFunctionBuilder& d) {
  Builder& b = d.builder();
  const Type point = d[1].type();
  const bool is_plane = point.rows == 2;
  const int potentials = is_plane ? 1 : 3;
  std::vector<VarId> sums;
  for (int k = 0; k < potentials; ++k)
    sums.push_back(b.let_zero("sum", point));
  const auto value = [&](VarId variable) { return E{&b, b.var(variable)}; };
  const VarId state = b.let("state", d[0].id);
  const VarId frequency = b.let("frequency", b.f32(1));
  const VarId amplitude = b.let("amplitude", b.f32(1));
  b.for_("octave", b.i32(0), as(kI32, d[2]).id, b.i32(1), [&](VarId) {
    const VarId scaled = b.let("scaled", (value(frequency) * d[1]).id);
    constexpr std::array<std::int64_t, 2> kOffsets = {10019689, 13112221};
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if (k > 0) b.assign(state, derived_state(d, value(state), kOffsets[k - 1]).id);
      const E gradient = d.library("noise_gradient", {value(state), value(scaled)});
      b.assign(sums[k], (value(sums[k]) + value(amplitude) * gradient).id);
    }
    b.assign(amplitude, (value(amplitude) * d[4]).id);
    b.assign(frequency, (value(frequency) * d[3]).id);
  });
  const auto s = [&](int potential, int k) { return value(sums[static_cast<std::size_t>(potential)])[k]; };
  if (is_plane) return make(point, {-s(0, 1), s(0, 0)});
  return make(vector_type(Scalar::kF32, 3), {s(2, 1) - s(1, 2), s(0, 2) - s(2, 0), s(1, 0) - s(0, 1)});
}

constexpr bool kHidden = true;

constexpr auto kNoiseFunctions = std::to_array<LibraryFunction>({
    {{"random_step", "u", "the next state of the random number generator", true, kHidden}, next_state},
    {{"lattice_vector", "un", "the random number that belongs to a lattice point", true, kHidden},
     [](LibraryFunctionBuilder& d) { return lattice_vector(d, 1); }},
    {{"lattice_vector", "unn", "the random unit vector that belongs to a lattice point", true, kHidden},
     [](LibraryFunctionBuilder& d) { return lattice_vector(d, 2); }},
    {{"lattice_vector", "unnn", "the random unit vector that belongs to a lattice point", true, kHidden},
     [](LibraryFunctionBuilder& d) { return lattice_vector(d, 3); }},
    {{"lattice_vector", "unnnn", "the random unit vector that belongs to a lattice point", true, kHidden},
     [](LibraryFunctionBuilder& d) { return lattice_vector(d, 4); }},
    {{"noise", "ua", "gradient noise at y, with random numbers from the state x"}, noise},
    {{"noise", "u2", "gradient noise at y, with random numbers from the state x"}, noise},
    {{"noise", "uh", "gradient noise at y, with random numbers from the state x"}, noise},
    {{"noise", "uc", "gradient noise at y, with random numbers from the state x"}, noise},
    {{"pnoise", "uap", "gradient noise at y that repeats with the period z"}, periodic_noise},
    {{"pnoise", "u2pp", "gradient noise at y that repeats with the periods z, u"}, periodic_noise},
    {{"pnoise", "uhppp", "gradient noise at y that repeats with the periods z, u, v"}, periodic_noise},
    {{"pnoise", "ucpppp", "gradient noise at y that repeats with the periods z, u, v, w"}, periodic_noise},
    {{"noise_gradient", "u2", "the gradient of noise(x, y)", false, kHidden}, noise_gradient},
    {{"noise_gradient", "uh", "the gradient of noise(x, y)", false, kHidden}, noise_gradient},
    {{"noise_gradient", "uc", "the gradient of noise(x, y)", false, kHidden}, noise_gradient},
    {{"curlnoise", "u2uaa", "the gradient of a sum of z octaves of noise, rotated by 90 degrees"}, curl_noise},
    {{"curlnoise", "uhuaa", "the curl of a vector field whose three components are sums of z octaves of noise"},
     curl_noise},
    {{"curlnoise", "ucuaa",
      "the curl, with respect to the first three coordinates, of a vector field whose three components are sums of z "
      "octaves of noise"},
     curl_noise},
});

}  // namespace

std::span<const LibraryFunction> noise_functions() { return kNoiseFunctions; }

}  // namespace assay::ir
