// Warp's library: random numbers of a generator with 32 bits of state (M. Jarzynski, M. Olano, "Hash Functions for GPU
// Rendering", JCGT 9(3), 2020), random points of shapes, and Poisson's distribution. Each function returns the number
// and the new state, which Warp stores in the variable that is the first operand. The order of the draws is Warp's.
#include <array>
#include <numbers>
#include <vector>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

constexpr Type kRandomState = scalar_type(Scalar::kU32);
constexpr Type kPlanePoint = vector_type(Scalar::kF32, 2);
constexpr Type kSpacePoint = vector_type(Scalar::kF32, 3);

/// The constant that randn adds to a uniform number before taking its logarithm.
constexpr double kTiny = 5.96e-8;
constexpr double kFloat32TwoPi = 6.2831854820251465;  ///< 2 pi rounded to f32, as in Warp

E converted(Type type, E x) { return {x.b, x.b->cast(type, x.id)}; }
E square_root(E x) { return call(Op::kSqrt, x); }
E logarithm(E x) { return call(Op::kLog, x); }

/// Draws numbers from the generator whose state is the first operand.
class RandomDraws {
 public:
  explicit RandomDraws(LibraryFunctionBuilder& d) : d_(d), b_(d.builder()), state_(b_.let("state", d[0].id)) {}

  /// The next 32 bits.
  E bits() {
    b_.assign(state_, d_.library("random_step", {value(state_)}).id);
    return value(state_);
  }
  /// The next 24 bits as a fraction in [0, 1), without rounding; in a variable, because the next draw changes the
  /// state.
  E unit() {
    const E word = bits();
    const E high = call(Op::kShiftRight, word, {&b_, b_.literal(kRandomState, std::int64_t{8})});
    return d_.let("drawn", converted(kF32, high) * number(0x1p-24));
  }
  E angle() { return d_.let("theta", (number(kFloat32TwoPi) - number(0)) * unit() + number(0)); }
  /// The result of the function; adds the state as the other one.
  E result(E drawn) {
    d_.also(value(state_));
    return drawn;
  }

  E number(double x) { return {&b_, b_.f32(x)}; }
  E value(VarId variable) { return {&b_, b_.var(variable)}; }
  LibraryFunctionBuilder& function() { return d_; }
  Builder& builder() { return b_; }

 private:
  LibraryFunctionBuilder& d_;
  Builder& b_;
  VarId state_;
};

E initial_state(LibraryFunctionBuilder& d) { return d.library("random_step", {converted(kRandomState, d[0])}); }
E initial_state_with_offset(LibraryFunctionBuilder& d) {
  const E offset = d.library("random_step", {converted(kRandomState, d[1])});
  return d.library("random_step", {converted(kRandomState, d[0]) + offset});
}

/// Unsigned arithmetic, as in C where one operand is unsigned.
E integer_in_range(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  const auto as_state = [&](E x) { return x.type() == kRandomState ? x : converted(kRandomState, x); };
  const E extent = as_state(d[2] - d[1]);
  const E drawn = call(Op::kMod, draws.bits(), extent) + as_state(d[1]);
  return draws.result(d[1].type() == kRandomState ? drawn : converted(kI32, drawn));
}
E random_integer(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  return draws.result(converted(kI32, draws.bits()));
}
E random_unsigned(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  return draws.result(draws.bits());
}
E random_float(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  return draws.result(draws.unit());
}
E float_in_range(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  const E unit = draws.unit();
  return draws.result((d[2] - d[1]) * unit + d[1]);
}
/// Box-Muller transform of two uniform numbers.
E random_normal(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  const E first = draws.unit();
  const E second = draws.unit();
  const E radius = square_root(draws.number(-2) * logarithm(first + draws.number(kTiny)));
  return draws.result(radius * call(Op::kCos, draws.number(kFloat32TwoPi) * second));
}

// ---- points of shapes

E point_of_triangle(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  const E r = d.let("r", square_root(draws.unit()));
  return draws.result(make(kPlanePoint, {1.0 - r, draws.unit() * r}));
}
E point_of_ring(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  const E theta = draws.angle();
  return draws.result(make(kPlanePoint, {call(Op::kCos, theta), call(Op::kSin, theta)}));
}
E point_of_disk(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  const E r = d.let("r", square_root(draws.unit()));
  const E theta = draws.angle();
  return draws.result(make(kPlanePoint, {r * call(Op::kCos, theta), r * call(Op::kSin, theta)}));
}
E point_of_cube(LibraryFunctionBuilder& d, Type point) {
  RandomDraws draws(d);
  std::vector<E> components;
  for (int k = 0; k < point.rows; ++k)
    components.push_back(draws.unit() - 0.5);
  return draws.result(make(point, components));
}
/// The point at a random polar angle and azimuth; inside of the surface at a random distance from the center.
E point_of_sphere(LibraryFunctionBuilder& d, bool is_half, bool is_surface) {
  RandomDraws draws(d);
  const E drawn = draws.unit();
  const E phi = d.let("phi", call(Op::kAcos, 1.0 - (is_half ? drawn : 2.0 * drawn)));
  const E theta = draws.angle();
  const E sine = call(Op::kSin, phi);
  const E x = call(Op::kCos, theta);
  const E y = call(Op::kSin, theta);
  if (is_surface) return draws.result(make(kSpacePoint, {x * sine, y * sine, call(Op::kCos, phi)}));
  const E r = d.let("r", call(Op::kPow, draws.unit(), draws.number(1.0 / 3)));
  return draws.result(make(kSpacePoint, {r * x * sine, r * y * sine, r * call(Op::kCos, phi)}));
}

// ---- Poisson's distribution

/// The logarithm of the gamma function at x >= 1 by Stirling's series, as in "Computation of Special Functions" (S.
/// Zhang, J. Jin, 1996): arguments below 7 are increased by a whole number first.
VarId log_gamma(Builder& b, VarId x) {
  constexpr std::array<double, 10> kSeries = {8.333333333333333e-02,  -2.777777777777778e-03, 7.936507936507937e-04,
                                              -5.952380952380952e-04, 8.417508417508418e-04,  -1.917526917526918e-03,
                                              6.410256410256410e-03,  -2.955065359477124e-02, 1.796443723688307e-01,
                                              -1.39243221690590e+00};
  constexpr double kLogOfTurn = 1.8378770664093453;
  const auto value = [&](VarId variable) { return E{&b, b.var(variable)}; };
  const VarId result = b.let("log_gamma", b.f32(0));
  const E is_one = call(Op::kEq, value(x), like(value(x), 1));
  const E is_two = call(Op::kEq, value(x), like(value(x), 2));
  b.if_(call(Op::kNot, either(is_one, is_two)).id, [&] {
    const VarId steps = b.let("steps", b.i32(0));
    b.if_((value(x) < like(value(x), 7)).id, [&] { b.assign(steps, b.cast(kI32, (7.0 - value(x)).id)); });
    const VarId moved = b.let("moved", (value(x) + E{&b, b.cast(kF32, b.var(steps))}).id);
    const VarId inverse = b.let("inverse", (like(value(moved), 1) / value(moved)).id);
    const VarId square = b.let("square", (value(inverse) * value(inverse)).id);
    const VarId series = b.let("series", b.f32(kSeries.back()));
    for (auto term = kSeries.rbegin() + 1; term != kSeries.rend(); ++term)
      b.assign(series, (value(series) * value(square) + like(value(series), *term)).id);
    const E half_log = 0.5 * like(value(moved), kLogOfTurn);
    const E shifted = (value(moved) - 0.5) * logarithm(value(moved));
    b.assign(result, (value(series) / value(moved) + half_log + shifted - value(moved)).id);
    b.for_("step", b.i32(0), b.var(steps), b.i32(1), [&](VarId) {
      b.assign(moved, (value(moved) - 1.0).id);
      b.assign(result, (value(result) - logarithm(value(moved))).id);
    });
  });
  return result;
}

/// Counts the uniform numbers whose product exceeds exp(-mean).
void count_by_product(RandomDraws& draws, VarId mean, VarId count) {
  Builder& b = draws.builder();
  const VarId limit = b.let("limit", call(Op::kExp, -draws.value(mean)).id);
  const VarId product = b.let("product", b.f32(1));
  b.while_(b.boolean(true), [&] {
    const E drawn = draws.unit();
    b.assign(product, (draws.value(product) * drawn).id);
    b.if_(call(Op::kLe, draws.value(product), draws.value(limit)).id, [&] { b.break_(); });
    b.assign(count, b.op(Op::kAdd, {b.var(count), b.literal(kRandomState, std::int64_t{1})}));
  });
}

/// W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993.
void count_by_rejection(RandomDraws& draws, VarId mean, VarId count) {
  Builder& b = draws.builder();
  const auto let = [&](const char* name, E x) { return b.let(name, x.id); };
  const auto value = [&](VarId variable) { return draws.value(variable); };
  const VarId slope = let("slope", like(value(mean), 0.931) + 2.53 * square_root(value(mean)));
  const VarId width = let("width", like(value(mean), -0.059) + 0.02483 * value(slope));
  const VarId scale = let("scale", like(value(mean), 1.1239) + like(value(mean), 1.1328) / (value(slope) - 3.4));
  const VarId certain = let("certain", 0.9277 - like(value(mean), 3.6224) / (value(slope) - 2.0));
  b.while_(b.boolean(true), [&] {
    const VarId u = let("u", draws.unit() - 0.5);
    const VarId v = let("v", draws.unit());
    const VarId room = let("room", 0.5 - call(Op::kAbs, value(u)));
    const E raw = (2.0 * value(width) / value(room) + value(slope)) * value(u) + value(mean) + like(value(mean), 0.43);
    const VarId k = let("k", call(Op::kFloor, raw));
    const auto accept = [&] {
      b.assign(count, b.cast(kRandomState, b.var(k)));
      b.break_();
    };
    const E is_certain =
        call(Op::kAnd, call(Op::kGe, value(room), like(value(room), 0.07)), call(Op::kLe, value(v), value(certain)));
    b.if_(is_certain.id, accept);
    const E is_outside = call(Op::kAnd, value(room) < like(value(room), 0.013), value(v) > value(room));
    b.if_(either(value(k) < like(value(k), 0), is_outside).id, [&] { b.continue_(); });
    const VarId next = let("next", value(k) + like(value(k), 1));
    const VarId gamma = log_gamma(b, next);
    const E density = logarithm(value(v)) + logarithm(value(scale)) -
                      logarithm(value(width) / (value(room) * value(room)) + value(slope));
    const E wanted = -value(mean) + value(k) * logarithm(value(mean)) - value(gamma);
    b.if_(call(Op::kLe, density, wanted).id, accept);
  });
}

E poisson_number(LibraryFunctionBuilder& d) {
  RandomDraws draws(d);
  Builder& b = d.builder();
  const VarId mean = b.let("mean", d[1].id);
  const VarId count = b.let("count", b.literal(kRandomState, std::int64_t{0}));
  b.if_(
      b.op(Op::kGe, {b.var(mean), b.f32(10)}), [&] { count_by_rejection(draws, mean, count); },
      [&] {
        b.if_(b.op(Op::kNe, {b.var(mean), b.f32(0)}), [&] { count_by_product(draws, mean, count); });
      });
  return draws.result(draws.value(count));
}

constexpr LibraryFunctionInfo drawing(std::string_view name, std::string_view operands, std::string_view formula,
                                      bool is_discrete = false) {
  return {.name = name,
          .operand_kind_letters = operands,
          .formula = formula,
          .is_discrete = is_discrete,
          .changes_first_operand = true};
}

constexpr auto kRandomFunctions = std::to_array<LibraryFunction>({
    {{"rand_init", "n", "the state of a random number generator for the seed x", true}, initial_state},
    {{"rand_init", "nn", "the state of a random number generator for the seed x and the offset y", true},
     initial_state_with_offset},
    {drawing("randi", "u", "a random int32", true), random_integer},
    {drawing("randi", "unn", "a random int32 from y to z - 1", true), integer_in_range},
    {drawing("randu", "u", "a random uint32", true), random_unsigned},
    {drawing("randu", "uuu", "a random uint32 from y to z - 1", true), integer_in_range},
    {drawing("randf", "u", "a random number in [0, 1)"), random_float},
    {drawing("randf", "uaa", "a random number in [y, z)"), float_in_range},
    {drawing("randn", "u", "a normally distributed random number"), random_normal},
    {drawing("poisson", "ua", "a random number of the Poisson distribution with the mean y", true), poisson_number},
    {drawing("sample_triangle", "u", "a random point of a triangle"), point_of_triangle},
    {drawing("sample_unit_ring", "u", "a random point of the unit circle"), point_of_ring},
    {drawing("sample_unit_disk", "u", "a random point of the unit disk"), point_of_disk},
    {drawing("sample_unit_sphere_surface", "u", "a random point of the unit sphere"),
     [](LibraryFunctionBuilder& d) { return point_of_sphere(d, false, true); }},
    {drawing("sample_unit_sphere", "u", "a random point in the unit sphere"),
     [](LibraryFunctionBuilder& d) { return point_of_sphere(d, false, false); }},
    {drawing("sample_unit_hemisphere_surface", "u", "a random point of the upper half of the unit sphere"),
     [](LibraryFunctionBuilder& d) { return point_of_sphere(d, true, true); }},
    {drawing("sample_unit_hemisphere", "u", "a random point in the upper half of the unit sphere"),
     [](LibraryFunctionBuilder& d) { return point_of_sphere(d, true, false); }},
    {drawing("sample_unit_square", "u", "a random point in the square with corners (-0.5, -0.5) and (0.5, 0.5)"),
     [](LibraryFunctionBuilder& d) { return point_of_cube(d, kPlanePoint); }},
    {drawing("sample_unit_cube", "u", "a random point in the cube with corners (-0.5, ...) and (0.5, ...)"),
     [](LibraryFunctionBuilder& d) { return point_of_cube(d, kSpacePoint); }},
});

}  // namespace

std::span<const LibraryFunction> random_functions() { return kRandomFunctions; }

}  // namespace assay::ir
