// Compares the functions of Warp's library with independent formulas in long double.
#include "ir/library.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "reference/cpu/testing/operation_samples.hpp"

namespace assay::reference {
namespace {

using testing::SampleKernel;
using testing::Usage;

using Values = std::vector<long double>;
using Formula = std::function<Values(const std::vector<Values>& x)>;

long double norm(const Values& x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0L)); }
std::size_t rows_of(const Values& square) {
  return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(square.size()))));
}

Values by_components(const Values& a, const Values& b, long double (*f)(long double, long double)) {
  Values result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), f);
  return result;
}
Values scaled(Values x, long double factor) {
  for (long double& component : x)
    component *= factor;
  return x;
}

/// Leibniz's sum over all permutations.
long double determinant(const Values& m) {
  const std::size_t n = rows_of(m);
  std::vector<std::size_t> columns(n);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  long double sum = 0;
  do {
    long double term = 1;
    for (std::size_t row = 0; row < n; ++row) {
      term *= m[row * n + columns[row]];
      for (std::size_t other = 0; other < row; ++other)
        term *= columns[other] > columns[row] ? -1 : 1;
    }
    sum += term;
  } while (std::next_permutation(columns.begin(), columns.end()));
  return sum;
}

long double huber(const Values& x, long double delta) {
  const long double r = norm(x);
  return r * r <= delta * delta ? r * r / 2 : delta * (r - delta / 2);
}
long double pseudo_huber(const Values& x, long double delta) {
  return std::hypot(delta, norm(x)) * (delta < 0 ? -1 : 1);
}

Values lerp(const std::vector<Values>& x) {
  Values result(x[0].size());
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] = x[0][k] + x[2][0] * (x[1][k] - x[0][k]);
  return result;
}

/// The first three components of a 4 x 4 matrix times (v, last).
Values moved(const Values& m, const Values& v, long double last) {
  Values result;
  for (std::size_t row = 0; row < 3; ++row)
    result.push_back(m[4 * row] * v[0] + m[4 * row + 1] * v[1] + m[4 * row + 2] * v[2] + m[4 * row + 3] * last);
  return result;
}

Values diagonal(const Values& m) {
  Values found;
  for (std::size_t k = 0; k < rows_of(m); ++k)
    found.push_back(m[k * (rows_of(m) + 1)]);
  return found;
}

// ---- quaternions as x, y, z, w

Values hamilton(const Values& a, const Values& b) {
  Values c(4);
  constexpr int kUnit[4][4] = {{3, 2, 1, 0}, {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 1, 2, 3}};
  constexpr int kSign[4][4] = {{-1, 1, -1, 1}, {-1, -1, 1, 1}, {1, -1, -1, 1}, {1, 1, 1, 1}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      c[static_cast<std::size_t>(kUnit[i][j])] += kSign[i][j] * a[i] * b[j];
  }
  return c;
}
Values conjugate(const Values& q) { return {-q[0], -q[1], -q[2], q[3]}; }
Values plus(Values a, const Values& b) {
  return by_components(a, b, [](auto x, auto y) { return x + y; });
}
Values part(const Values& x, std::size_t first, std::size_t count) {
  const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
/// w + i s (axis . a) for the quaternion (a, w): its argument is half the angle of the rotation about a unit axis.
std::complex<long double> turn_about(const Values& axis, const Values& q, long double s = 1) {
  return {q[3], s * (axis[0] * q[0] + axis[1] * q[1] + axis[2] * q[2])};
}

Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The vector part of q v q* + (|q|^2 - 1) v.
Values rotate(const Values& q, const Values& v) {
  const Values turned = hamilton(hamilton(q, {v[0], v[1], v[2], 0}), conjugate(q));
  return plus(part(turned, 0, 3), scaled(v, norm(q) * norm(q) - 1));
}
Values rotation_matrix(const Values& q) {
  Values m(9);
  for (std::size_t column = 0; column < 3; ++column) {
    Values unit(3);
    unit[column] = 1;
    const Values turned = rotate(q, unit);
    for (std::size_t row = 0; row < 3; ++row)
      m[3 * row + column] = turned[row];
  }
  return m;
}
Values about(const Values& axis, long double angle) {
  return joined(scaled(axis, std::sin(angle / 2)), {std::cos(angle / 2)});
}
/// sin((1 - t) a) p / sin(a) + sin(t a) q / sin(a) on the shorter arc.
Values slerp(Values p, Values q, long double t) {
  const long double length = norm(p);
  p = scaled(p, 1 / length);
  q = scaled(q, 1 / norm(q));
  long double cosine = std::inner_product(p.begin(), p.end(), q.begin(), 0.0L);
  if (cosine < 0) q = scaled(q, -1);
  const long double angle = std::acos(std::abs(cosine));
  const Values sum = plus(scaled(p, std::sin((1 - t) * angle)), scaled(q, std::sin(t * angle)));
  return scaled(sum, length / std::sin(angle));
}
/// 4 q q^T of a rotation's quaternion q follows from its matrix; the quaternion is a column of it, of length 1.
Values from_matrix(const Values& m, std::size_t stride) {
  const auto at = [&](std::size_t row, std::size_t column) { return m[stride * row + column]; };
  const long double trace = at(0, 0) + at(1, 1) + at(2, 2);
  const long double four_q_q[4][4] = {
      {1 + 2 * at(0, 0) - trace, at(0, 1) + at(1, 0), at(0, 2) + at(2, 0), at(2, 1) - at(1, 2)},
      {at(0, 1) + at(1, 0), 1 + 2 * at(1, 1) - trace, at(1, 2) + at(2, 1), at(0, 2) - at(2, 0)},
      {at(0, 2) + at(2, 0), at(1, 2) + at(2, 1), 1 + 2 * at(2, 2) - trace, at(1, 0) - at(0, 1)},
      {at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1), 1 + trace}};
  std::size_t column = 3;
  if (trace < 0) {
    column = at(1, 1) > at(0, 0) ? 1 : 0;
    if (at(2, 2) > at(column, column)) column = 2;
  }
  const Values found(four_q_q[column], four_q_q[column] + 4);
  return scaled(found, 1 / norm(found));
}

/// The angles of the matrix, whose diagonal is corrected for the length of the quaternion.
Values roll_pitch_yaw(const std::vector<Values>& x) {
  const Values r = rotation_matrix(x[0]);
  const long double excess = 2 * (norm(x[0]) * norm(x[0]) - 1);
  return {std::atan2(r[7], r[8] - excess), std::asin(std::clamp(-r[6], -1.0L, 1.0L)), std::atan2(r[3], r[0] - excess)};
}
/// Half the sum and half the difference of the outer angles are the arguments of two complex numbers, whose magnitudes
/// are in the ratio of the cosine and sine of half the middle angle.
Values euler_angles(const std::vector<Values>& x) {
  const Values& q = x[0];
  const std::complex<long double> sum(q[3] - q[1], q[0] + q[2]);
  const std::complex<long double> difference(q[1] + q[3], q[2] - q[0]);
  return {std::arg(sum) - std::arg(difference),
          2 * std::atan2(std::abs(difference), std::abs(sum)) - std::numbers::pi_v<long double> / 2,
          std::arg(sum) + std::arg(difference)};
}

// ---- transforms and spatial vectors

Values translation(const Values& t) { return part(t, 0, 3); }
Values rotation(const Values& t) { return part(t, 3, 4); }
Values top(const Values& v) { return part(v, 0, 3); }
Values bottom(const Values& v) { return part(v, 3, 3); }
Values cross(const Values& a, const Values& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Values composed(const std::vector<Values>& x) {
  return joined(plus(rotate(rotation(x[0]), translation(x[1])), translation(x[0])),
                hamilton(rotation(x[0]), rotation(x[1])));
}
Values homogeneous(const std::vector<Values>& x, const Values& scale = {1, 1, 1}) {
  const Values r = rotation_matrix(rotation(x[0]));
  Values m;
  for (std::size_t row = 0; row < 3; ++row) {
    const Values scaled_row = by_components(part(r, 3 * row, 3), scale, [](auto a, auto b) { return a * b; });
    m = joined(m, joined(scaled_row, {x[0][row]}));
  }
  return joined(m, {0, 0, 0, 1});
}
Values column_of(const Values& m, std::size_t column) { return {m[column], m[4 + column], m[8 + column]}; }
Values decomposed(const std::vector<Values>& x) {
  Values scale, r(9);
  for (std::size_t column = 0; column < 3; ++column) {
    scale.push_back(norm(column_of(x[0], column)));
    for (std::size_t row = 0; row < 3; ++row)
      r[3 * row + column] = x[0][4 * row + column] / scale[column];
  }
  return joined(column_of(x[0], 3), joined(from_matrix(r, 3), scale));
}
Values adjoint_matrix(const std::vector<Values>& x) {
  Values m(36);
  for (std::size_t k = 0; k < 9; ++k) {
    m[6 * (k / 3) + k % 3] = m[6 * (k / 3 + 3) + k % 3 + 3] = x[0][k];
    m[6 * (k / 3 + 3) + k % 3] = x[1][k];
  }
  return m;
}
/// A twist or wrench transformed to the frame: both halves are rotated, and the lever term is added to the first or
/// last.
Values moved_pair(const std::vector<Values>& x, bool lever_is_last) {
  const Values first = rotate(rotation(x[0]), top(x[1]));
  const Values last = rotate(rotation(x[0]), bottom(x[1]));
  if (lever_is_last) return joined(first, plus(last, cross(translation(x[0]), first)));
  return joined(plus(first, cross(translation(x[0]), last)), last);
}

// ---- noise: for each corner of the cell, a weight times the inner product of a random vector with the offset

std::uint32_t drawn(std::uint32_t state) {
  state = state * 747796405U + 2891336453U;
  state = ((state >> ((state >> 28U) + 4U)) ^ state) * 277803737U;
  return (state >> 22U) ^ state;
}

/// The random numbers that follow the state 9.
class RandomStream {
 public:
  long double unit() {
    state_ = drawn(state_);
    return static_cast<long double>(state_ >> 8U) / 16777216;
  }
  long double angle() { return kTurn * unit(); }

 private:
  static constexpr long double kTurn = 6.2831854820251465L;  // 2 pi in float32, as in Warp
  std::uint32_t state_ = 9;
};

Values normal_number() {
  RandomStream random;
  const long double radius = std::sqrt(-2 * std::log(random.unit() + static_cast<long double>(5.96e-8F)));
  return {radius * std::cos(random.angle())};
}

Values point_of_triangle() {
  RandomStream random;
  const long double side = std::sqrt(random.unit());
  return {1 - side, side * random.unit()};
}

Values point_of_disk(bool is_edge) {
  RandomStream random;
  const long double radius = is_edge ? 1 : std::sqrt(random.unit());
  const long double angle = random.angle();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

Values point_of_cube(int dimensions) {
  RandomStream random;
  Values point;
  for (int k = 0; k < dimensions; ++k)
    point.push_back(random.unit() - 0.5L);
  return point;
}

/// Uniform in the cosine of the polar angle, from -1 or 0 to 1.
Values point_of_sphere(long double least_cosine, bool is_surface) {
  RandomStream random;
  const long double cosine = 1 - (1 - least_cosine) * random.unit();
  const long double sine = std::sqrt((1 - cosine) * (1 + cosine));
  const long double angle = random.angle();
  const long double radius = is_surface ? 1 : std::pow(random.unit(), static_cast<long double>(1.0F / 3));
  return scaled({sine * std::cos(angle), sine * std::sin(angle), cosine}, radius);
}

Values vector_at(std::uint32_t state, const std::vector<std::int32_t>& at) {
  constexpr std::uint32_t kPrimes[] = {73856093, 19349663, 53471161, 10000019};
  std::uint32_t hash = static_cast<std::uint32_t>(at.back()) * kPrimes[at.size() - 1] + state;
  for (std::size_t k = 0; k + 1 < at.size(); ++k)
    hash ^= static_cast<std::uint32_t>(at[k]) * kPrimes[k];
  Values vector;
  for (std::size_t k = 0; k < at.size(); ++k) {
    hash = drawn(hash);
    vector.push_back((hash >> 8U) / 16777216.0L - 0.5L);
  }
  return at.size() == 1 ? scaled(vector, 2) : scaled(vector, 1 / norm(vector));
}

/// The noise at a point, then its gradient.
Values noise_at(std::uint32_t state, const Values& point, const std::vector<std::int32_t>& periods = {}) {
  const std::size_t n = point.size();
  Values result(n + 1);
  for (unsigned corner = 0; corner < 1U << n; ++corner) {
    std::vector<std::int32_t> at;
    Values offset, weight, slope;
    for (std::size_t k = 0; k < n; ++k) {
      const unsigned high = corner >> k & 1U;
      std::int32_t index = static_cast<std::int32_t>(std::floor(point[k]));
      if (!periods.empty()) index %= periods[k];
      index += static_cast<std::int32_t>(high);
      at.push_back(periods.empty() ? index : index % periods[k]);
      const long double t = point[k] - std::floor(point[k]);
      offset.push_back(t - high);
      const long double rising = ((6 * t - 15) * t + 10) * t * t * t;
      weight.push_back(high != 0 ? rising : 1 - rising);
      slope.push_back((high != 0 ? 30 : -30) * t * t * (t - 1) * (t - 1));
    }
    const Values vector = vector_at(state, at);
    const long double height = std::inner_product(vector.begin(), vector.end(), offset.begin(), 0.0L);
    const long double share = std::accumulate(weight.begin(), weight.end(), 1.0L, std::multiplies<>());
    result[0] += share * height;
    for (std::size_t k = 0; k < n; ++k) {
      long double others = 1;
      for (std::size_t other = 0; other < n; ++other)
        others *= other == k ? 1 : weight[other];
      result[k + 1] += share * vector[k] + slope[k] * others * height;
    }
  }
  return result;
}

Values noise(const std::vector<Values>& x) { return {noise_at(9, x[0])[0]}; }
Values periodic_noise(const std::vector<Values>& x) { return {noise_at(9, x[0], {2, 3, 4, 5})[0]}; }

/// Two octaves.
Values curl_noise(const std::vector<Values>& x) {
  const bool is_plane = x[0].size() == 2;
  std::uint32_t state = 9;
  std::vector<Values> gradients(is_plane ? 1 : 3, Values(5));
  for (int octave = 0; octave < 2; ++octave) {
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      if (k > 0) state = drawn(state + drawn(k == 1 ? 10019689 : 13112221));
      const Values found = noise_at(state, scaled(x[0], octave == 0 ? 1 : x[1][0]));
      for (std::size_t j = 0; j + 1 < found.size(); ++j)
        gradients[k][j] += found[j + 1] * (octave == 0 ? 1 : x[2][0]);
    }
  }
  if (is_plane) return {-gradients[0][1], gradients[0][0]};
  return {gradients[2][1] - gradients[1][2], gradients[0][2] - gradients[2][0], gradients[1][0] - gradients[0][1]};
}

// ---- decompositions

/// Gram and Schmidt's method for the first two columns; the third column of Q completes a rotation.
Values orthogonal_triangular(const std::vector<Values>& x) {
  const auto column = [&](std::size_t k) { return Values{x[0][k], x[0][3 + k], x[0][6 + k]}; };
  const auto product = [](const Values& a, const Values& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
  };
  std::vector<Values> q = {scaled(column(0), 1 / norm(column(0)))};
  const Values rest = plus(column(1), scaled(q[0], -product(q[0], column(1))));
  q.push_back(scaled(rest, 1 / norm(rest)));
  q.push_back(cross(q[0], q[1]));
  Values all;
  for (std::size_t row = 0; row < 3; ++row)
    all = joined(all, {q[0][row], q[1][row], q[2][row]});
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t k = 0; k < 3; ++k)
      all.push_back(row > k ? 0 : product(q[row], column(k)));
  }
  return all;
}

/// The singular values are half the sum and half the difference of the lengths of the matrix's part that commutes with
/// rotations and its other part; the angles of both parts give those of U and V.
Values singular_values(const std::vector<Values>& x) {
  const std::complex<long double> turn((x[0][0] + x[0][3]) / 2, (x[0][2] - x[0][1]) / 2);
  const std::complex<long double> mirror((x[0][0] - x[0][3]) / 2, (x[0][2] + x[0][1]) / 2);
  const long double s1 = std::abs(turn) + std::abs(mirror), s2 = std::abs(turn) - std::abs(mirror);
  long double angle_v = (std::arg(mirror) - std::arg(turn)) / 2;
  long double angle_u = (std::arg(mirror) + std::arg(turn)) / 2;
  // Of the two signs of the vectors, the one with a component sum of the first column of V that is not negative in the
  // sense of Warp: cos - sin >= 0.
  if (std::cos(angle_v) < std::sin(angle_v)) {
    angle_v += std::numbers::pi_v<long double>;
    angle_u += std::numbers::pi_v<long double>;
  }
  const long double sign = s2 < 0 ? -1 : 1;
  const long double cu = std::cos(angle_u), su = std::sin(angle_u), cv = std::cos(angle_v), sv = std::sin(angle_v);
  return {cu, -su * sign, su, cu * sign, s1, std::abs(s2), cv, -sv, sv, cv};
}

/// The nearest of the candidates: the interior minimum of the distance, and the minima on the four sides of the square
/// of parameters. The parameter of a segment that is a point is zero.
Values closest_points(const std::vector<Values>& x) {
  const Values d1 = plus(x[1], scaled(x[0], -1)), d2 = plus(x[3], scaled(x[2], -1)), r = plus(x[0], scaled(x[2], -1));
  const auto product = [](const Values& a, const Values& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
  };
  const long double a = product(d1, d1), e = product(d2, d2), b = product(d1, d2);
  const long double c = product(d1, r), f = product(d2, r);
  const auto unit = [](long double at) { return std::clamp(at, 0.0L, 1.0L); };
  const long double s = (b * f - c * e) / (a * e - b * b);
  const long double t = (b * s + f) / e;
  const bool is_point1 = a <= x[4][0], is_point2 = e <= x[4][0];
  std::vector<Values> candidates;
  candidates.push_back({is_point1 ? 0 : unit(-c / a), 0});
  if (!is_point2) candidates.push_back({0, unit(f / e)});
  if (!is_point1 && !is_point2) {
    candidates.push_back({unit((b - c) / a), 1});
    candidates.push_back({1, unit((b + f) / e)});
    if (s > 0 && s < 1 && t > 0 && t < 1) candidates.push_back({s, t});
  }
  for (Values& at : candidates)
    at.push_back(norm(plus(plus(r, scaled(d1, at[0])), scaled(d2, -at[1]))));
  return *std::ranges::min_element(candidates, {}, [](const Values& at) { return at[2]; });
}

std::map<std::string, Formula> formulas() {
  using X = const std::vector<Values>&;
  return {
      {"min v", [](X x) { return Values{*std::min_element(x[0].begin(), x[0].end())}; }},
      {"max v", [](X x) { return Values{*std::max_element(x[0].begin(), x[0].end())}; }},
      {"min vv", [](X x) { return by_components(x[0], x[1], [](auto a, auto b) { return std::min(a, b); }); }},
      {"max vv", [](X x) { return by_components(x[0], x[1], [](auto a, auto b) { return std::max(a, b); }); }},
      {"mod vv", [](X x) { return by_components(x[0], x[1], [](auto a, auto b) { return std::fmod(a, b); }); }},
      {"abs v", [](X x) { return by_components(x[0], x[0], [](auto a, auto) { return std::abs(a); }); }},
      {"sign v", [](X x) { return by_components(x[0], x[0], [](auto a, auto) { return a < 0 ? -1.0L : 1.0L; }); }},
      {"norm_l1 f",
       [](X x) {
         return Values{std::accumulate(x[0].begin(), x[0].end(), 0.0L, [](auto s, auto a) { return s + std::abs(a); })};
       }},
      {"norm_l2 f", [](X x) { return Values{norm(x[0])}; }},
      {"norm_huber f", [](X x) { return Values{huber(x[0], 1)}; }},
      {"norm_huber fs", [](X x) { return Values{huber(x[0], x[1][0])}; }},
      {"norm_pseudo_huber f", [](X x) { return Values{pseudo_huber(x[0], 1)}; }},
      {"norm_pseudo_huber fs", [](X x) { return Values{pseudo_huber(x[0], x[1][0])}; }},
      {"smooth_normalize f", [](X x) { return scaled(x[0], 1 / pseudo_huber(x[0], 1)); }},
      {"smooth_normalize fs", [](X x) { return scaled(x[0], 1 / pseudo_huber(x[0], x[1][0])); }},
      {"lerp ffs", lerp},
      {"lerp mms", lerp},
      {"skew 3",
       [](X x) {
         const Values& v = x[0];
         return Values{0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
       }},
      {"trace d",
       [](X x) {
         const Values d = diagonal(x[0]);
         return Values{std::accumulate(d.begin(), d.end(), 0.0L)};
       }},
      {"diag v",
       [](X x) {
         Values m(x[0].size() * x[0].size());
         for (std::size_t k = 0; k < x[0].size(); ++k)
           m[k * (x[0].size() + 1)] = x[0][k];
         return m;
       }},
      {"get_diag d", [](X x) { return diagonal(x[0]); }},
      {"determinant i", [](X x) { return Values{determinant(x[0])}; }},
      {"lerp qqs", lerp},
      {"lerp tts", lerp},
      {"normalize q", [](X x) { return scaled(x[0], 1 / norm(x[0])); }},
      {"quat_rotate q3", [](X x) { return rotate(x[0], x[1]); }},
      {"quat_rotate_inv q3", [](X x) { return rotate(conjugate(x[0]), x[1]); }},
      {"quat_to_matrix q", [](X x) { return rotation_matrix(x[0]); }},
      {"quat_from_matrix r", [](X x) { return from_matrix(x[0], 3); }},
      {"quat_from_matrix 4", [](X x) { return from_matrix(x[0], 4); }},
      {"quat_from_axis_angle 3s", [](X x) { return about(x[0], x[1][0]); }},
      {"quat_to_axis_angle q",
       [](X x) {
         const Values vector = {x[0][0], x[0][1], x[0][2]};
         const long double length = norm(vector);
         Values all = scaled(vector, (x[0][3] < 0 ? -1 : 1) / length);
         all.push_back(2 * std::atan2(length, std::abs(x[0][3])));
         return all;
       }},
      {"quat_twist 3q",
       [](X x) {
         const long double length = norm(x[0]);
         const long double half = std::arg(turn_about(scaled(x[0], 1 / length), x[1], length * length));
         return joined(scaled(x[0], std::sin(half) / length), {std::cos(half)});
       }},
      {"quat_twist_angle 3q", [](X x) { return Values{2 * std::abs(std::arg(turn_about(x[0], x[1])))}; }},
      {"quat_twist_angle_signed 3q", [](X x) { return Values{2 * std::arg(turn_about(x[0], x[1]))}; }},
      {"quat_rpy sss",
       [](X x) {
         return hamilton(about({0, 0, 1}, x[2][0]), hamilton(about({0, 1, 0}, x[1][0]), about({1, 0, 0}, x[0][0])));
       }},
      {"quat_to_rpy q", roll_pitch_yaw},
      {"quat_from_euler 3nnn",
       [](X x) {
         return hamilton(about({0, 0, 1}, x[0][2]), hamilton(about({0, 1, 0}, x[0][1]), about({1, 0, 0}, x[0][0])));
       }},
      {"quat_to_euler qnnn", euler_angles},
      {"quat_slerp qqs", [](X x) { return slerp(x[0], x[1], x[2][0]); }},
      {"transform_multiply tt", composed},
      {"mul tt", composed},
      {"transform_inverse t",
       [](X x) {
         const Values back = conjugate(rotation(x[0]));
         return joined(scaled(rotate(back, translation(x[0])), -1), back);
       }},
      {"transform_point t3", [](X x) { return plus(translation(x[0]), rotate(rotation(x[0]), x[1])); }},
      {"transform_vector t3", [](X x) { return rotate(rotation(x[0]), x[1]); }},
      {"transform_to_matrix t", [](X x) { return homogeneous(x); }},
      {"transform_from_matrix 4",
       [](X x) {
         return joined({x[0][3], x[0][7], x[0][11]}, from_matrix(x[0], 4));
       }},
      {"transform_compose 3q3", [](X x) { return homogeneous({joined(x[0], x[1])}, x[2]); }},
      {"transform_decompose 4", decomposed},
      {"transform_twist t6", [](X x) { return moved_pair(x, true); }},
      {"transform_wrench t6", [](X x) { return moved_pair(x, false); }},
      {"spatial_dot 66", [](X x) { return Values{std::inner_product(x[0].begin(), x[0].end(), x[1].begin(), 0.0L)}; }},
      {"spatial_cross 66",
       [](X x) {
         return joined(cross(top(x[0]), top(x[1])),
                       plus(cross(bottom(x[0]), top(x[1])), cross(top(x[0]), bottom(x[1]))));
       }},
      {"spatial_cross_dual 66",
       [](X x) {
         return joined(plus(cross(top(x[0]), top(x[1])), cross(bottom(x[0]), bottom(x[1]))),
                       cross(top(x[0]), bottom(x[1])));
       }},
      {"spatial_adjoint rr", adjoint_matrix},
      {"velocity_at_point 63", [](X x) { return plus(bottom(x[0]), cross(top(x[0]), x[1])); }},
      {"qr3 r", orthogonal_triangular},
      {"svd2 e", singular_values},
      {"closest_point_edge_edge hhhha", closest_points},
      {"noise ua", noise},
      {"noise u2", noise},
      {"noise uh", noise},
      {"noise uc", noise},
      {"pnoise uap", periodic_noise},
      {"pnoise u2pp", periodic_noise},
      {"pnoise uhppp", periodic_noise},
      {"pnoise ucpppp", periodic_noise},
      {"curlnoise u2uaa", curl_noise},
      {"curlnoise uhuaa", curl_noise},
      {"curlnoise ucuaa", curl_noise},
      {"randf u", [](X) { return Values{RandomStream().unit()}; }},
      {"randf uaa", [](X x) { return Values{x[0][0] + (x[1][0] - x[0][0]) * RandomStream().unit()}; }},
      {"randn u", [](X) { return normal_number(); }},
      {"sample_triangle u", [](X) { return point_of_triangle(); }},
      {"sample_unit_ring u", [](X) { return point_of_disk(true); }},
      {"sample_unit_disk u", [](X) { return point_of_disk(false); }},
      {"sample_unit_square u", [](X) { return point_of_cube(2); }},
      {"sample_unit_cube u", [](X) { return point_of_cube(3); }},
      {"sample_unit_sphere u", [](X) { return point_of_sphere(-1, false); }},
      {"sample_unit_sphere_surface u", [](X) { return point_of_sphere(-1, true); }},
      {"sample_unit_hemisphere u", [](X) { return point_of_sphere(0, false); }},
      {"sample_unit_hemisphere_surface u", [](X) { return point_of_sphere(0, true); }},
      {"transform_point 43", [](X x) { return moved(x[0], x[1], 1); }},
      {"transform_vector 43", [](X x) { return moved(x[0], x[1], 0); }},
  };
}

std::string key_of(const ir::LibraryFunctionInfo& row) {
  return std::string(row.name) + " " + std::string(row.operand_kind_letters);
}

class LibraryFunction : public ::testing::TestWithParam<Usage> {};

TEST_P(LibraryFunction, MatchesIndependentFormula) {
  const Usage& usage = GetParam();
  const auto all = formulas();
  const auto formula = all.find(key_of(*usage.function));
  ASSERT_NE(formula, all.end()) << "no formula for " << key_of(*usage.function);
  Rng rng(23);
  for (int n = 0; n < 200; ++n) {
    const auto point = testing::sample(usage, rng);
    std::vector<Values> x;
    for (const auto& components : point)
      x.emplace_back(components.begin(), components.end());
    const Values expected = formula->second(x);
    const ReferenceResult got = testing::kernel_at(usage, point).fixture.evaluate();
    const auto& elements = got.outputs.back()->elements;
    ASSERT_EQ(elements.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_LE(std::abs(elements[k].value - expected[k]), 1e-15L * std::max(1.0L, std::abs(expected[k])))
          << "component " << k << ": got " << elements[k].value << ", expected " << expected[k];
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Warp, LibraryFunction, ::testing::ValuesIn(testing::library_usages(ir::Scalar::kF64)),
                         [](const auto& usage) { return usage.param.name(); });

/// The index that the function returns for the vector.
std::int64_t index_in(std::string_view name, const std::vector<double>& components) {
  testing::OracleFixture w;
  const ir::Type vector = ir::vector_type(ir::Scalar::kF64, static_cast<int>(components.size()));
  const ir::VarId x = w.array("x", vector, {1}, components);
  const ir::VarId out = w.zeros("out", ir::scalar_type(ir::Scalar::kU32), {1});
  const ir::VarId i = w.thread_index(1);
  const int function = ir::library_function(w.module(), name, std::vector<ir::Type>{vector}).value();
  w.b().store(out, {w.var(i)}, w.b().call(function, {w.at(x, i)}));
  return w.evaluate().outputs[static_cast<std::size_t>(out)]->elements[0].integer;
}

TEST(LibraryValues, ArgminAndArgmaxReturnFirstIndex) {
  EXPECT_EQ(index_in("argmin", {2, -1, 3, -1}), 1);
  EXPECT_EQ(index_in("argmax", {2, -1, 3, 3}), 2);
  EXPECT_EQ(index_in("argmin", {0.5, 0.5}), 0);
}

TEST(LibraryValues, ArgminAndArgmaxIgnoreNan) {
  const double none = std::nan("");
  EXPECT_EQ(index_in("argmin", {none, 3, none, 2}), 3);
  EXPECT_EQ(index_in("argmax", {none, none, 1}), 2);
  EXPECT_EQ(index_in("argmax", {none, none}), 0);
}

/// The rotation that the angles of the rotation `q` give, for the axes i, j, k.
Values there_and_back(const std::vector<double>& q, std::int64_t i, std::int64_t j, std::int64_t k) {
  testing::OracleFixture w;
  const ir::Type quaternion = ir::quaternion_type(ir::Scalar::kF64);
  const ir::VarId x = w.array("x", quaternion, {1}, q);
  const ir::VarId out = w.zeros("out", quaternion, {1});
  const ir::VarId at = w.thread_index(1);
  const auto call = [&](std::string_view name, ir::ExprId operand) {
    const std::vector<ir::Type> types = {w.b().type_of(operand), ir::kI32, ir::kI32, ir::kI32};
    return w.b().call(ir::library_function(w.module(), name, types).value(),
                      {operand, w.b().i32(i), w.b().i32(j), w.b().i32(k)});
  };
  const ir::VarId angles = w.b().let("angles", call("quat_to_euler", w.at(x, at)));
  w.b().store(out, {w.var(at)}, call("quat_from_euler", w.var(angles)));
  const ReferenceResult result = w.evaluate();
  Values back;
  for (const auto& element : result.outputs[static_cast<std::size_t>(out)]->elements)
    back.push_back(element.value);
  return back;
}

TEST(LibraryValues, EulerAnglesReproduceRotation) {
  constexpr std::int64_t kOrders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const std::vector<double> q = {0.5, -0.1, 0.7, 0.5};
  for (const auto& [i, j, k] : kOrders) {
    const Values back = there_and_back(q, i, j, k);
    const long double sign = back[3] < 0 ? -1 : 1;
    for (std::size_t n = 0; n < 4; ++n)
      EXPECT_NEAR(static_cast<double>(sign * back[n]), q[n], 1e-15) << i << j << k;
  }
}

/// The value of a library function with one operand and a result that is not a float.
std::int64_t integer_of(std::string_view name, ir::Type type, const std::vector<double>& components) {
  testing::OracleFixture w;
  const ir::VarId x = w.array("x", type, {1}, components);
  const int function = ir::library_function(w.module(), name, std::vector<ir::Type>{type}).value();
  const ir::VarId out = w.zeros("out", ir::kI64, {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.b().cast(ir::kI64, w.b().call(function, {w.at(x, i)})));
  return w.evaluate().outputs[static_cast<std::size_t>(out)]->elements[0].integer;
}

TEST(LibraryValues, BitCountUsesTheWidthOfTheType) {
  EXPECT_EQ(integer_of("bit_count", ir::scalar_type(ir::Scalar::kI8), {-1}), 8);
  EXPECT_EQ(integer_of("bit_count", ir::scalar_type(ir::Scalar::kI16), {-2}), 15);
  EXPECT_EQ(integer_of("bit_count", ir::kI32, {-1}), 32);
  EXPECT_EQ(integer_of("bit_count", ir::scalar_type(ir::Scalar::kU32), {0xf0f0'0001}), 9);
  EXPECT_EQ(integer_of("bit_count", ir::kI64, {-1}), 64);
  EXPECT_EQ(integer_of("bit_count", ir::scalar_type(ir::Scalar::kU8), {0}), 0);
}

TEST(LibraryValues, IsnanIsinfAndIsfiniteConsiderAllComponents) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  const ir::Type vector = ir::vector_type(ir::Scalar::kF64, 3);
  EXPECT_EQ(integer_of("isnan", vector, {1, nan, 2}), 1);
  EXPECT_EQ(integer_of("isnan", vector, {1, inf, 2}), 0);
  EXPECT_EQ(integer_of("isinf", vector, {1, nan, -inf}), 1);
  EXPECT_EQ(integer_of("isinf", ir::quaternion_type(ir::Scalar::kF64), {1, nan, 3, 4}), 0);
  EXPECT_EQ(integer_of("isfinite", ir::matrix_type(ir::Scalar::kF64, 2, 2), {1, 2, 3, nan}), 0);
  EXPECT_EQ(integer_of("isfinite", vector, {1, 2, 3}), 1);
}

}  // namespace
}  // namespace assay::reference
