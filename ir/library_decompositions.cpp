// Warp's library: decompositions of small matrices in a fixed number of steps.
//
// Signs and order are Warp's (docs/design/semantics.md). The formulas follow Warp's arithmetic, so that entries that
// are zero in exact arithmetic, such as the lower triangle of R, have a bound that contains Warp's rounding errors.
#include <array>
#include <numbers>
#include <vector>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

E squared(E x) { return x * x; }
E root(E x) { return call(Op::kSqrt, x); }
E reciprocal_root(E x) { return like(x, 1) / root(x); }

// ---- QR decomposition

/// A rotation of two rows: (c x + s y, c y - s x).
struct Rotation {
  E c, s;
};

/// The rotation that maps (x, y) to (|(x, y)|, 0), computed from half its angle, so that nothing cancels.
Rotation annihilating(LibraryFunctionBuilder& d, E x, E y) {
  const E least = like(x, x.type().scalar == Scalar::kF64 ? 1e-12 : 1e-6);
  const E length = d.let("length", root(squared(x) + squared(y)));
  const E large = d.let("large", call(Op::kAbs, x) + call(Op::kMax, length, least));
  const E small = d.let("small", choose(length > least, y, like(y, 0)));
  const E turned_back = d.let("turned_back", x < like(x, 0));
  const E factor = d.let("factor", reciprocal_root(squared(large) + squared(small)));
  const E cosine = d.let("cosine", choose(turned_back, small, large) * factor);
  const E sine = d.let("sine", choose(turned_back, large, small) * factor);
  return {d.let("c", 1.0 - 2.0 * squared(sine)), d.let("s", 2.0 * cosine * sine)};
}

using Rows = std::array<std::array<E, 3>, 3>;

/// Rotates rows i and j so that the entry of row j in the column becomes zero up to rounding.
Rotation annihilate(LibraryFunctionBuilder& d, Rows& m, std::size_t i, std::size_t j, std::size_t column) {
  const Rotation r = annihilating(d, m[i][column], m[j][column]);
  for (std::size_t k = 0; k < 3; ++k) {
    const E upper = d.let("upper", r.c * m[i][k] + r.s * m[j][k]);
    const E lower = d.let("lower", r.c * m[j][k] - r.s * m[i][k]);
    m[i][k] = upper;
    m[j][k] = lower;
  }
  return r;
}

E whole(const Rows& m) {
  std::vector<E> all;
  for (const auto& row : m)
    all.insert(all.end(), row.begin(), row.end());
  return make(matrix_of(m[0][0], 3, 3), all);
}

E orthogonal_triangular(LibraryFunctionBuilder& d) {
  const E x = d[0];
  Rows m = {{{x[0][0], x[0][1], x[0][2]}, {x[1][0], x[1][1], x[1][2]}, {x[2][0], x[2][1], x[2][2]}}};
  const Rotation f = annihilate(d, m, 0, 1, 0);
  const Rotation g = annihilate(d, m, 0, 2, 0);
  const Rotation h = annihilate(d, m, 1, 2, 1);
  // The product of the three inverse rotations.
  const E lever1 = d.let("lever", f.c * g.s);
  const E lever2 = d.let("lever", f.s * g.s);
  const Rows q = {{{f.c * g.c, -(f.s * h.c) - lever1 * h.s, f.s * h.s - lever1 * h.c},
                   {f.s * g.c, f.c * h.c - lever2 * h.s, -(f.c * h.s) - lever2 * h.c},
                   {g.s, g.c * h.s, g.c * h.c}}};
  d.also(whole(m));
  return whole(q);
}

// ---- singular value decomposition of a 2 x 2 matrix

/// From the eigenvalues and the first eigenvector of the transpose of x times x.
E singular_values(LibraryFunctionBuilder& d) {
  Builder& b = d.builder();
  const E x = d[0];
  const E none = like(x, 0);
  const E one = like(x, 1);
  const E first = d.let("first", squared(x[0][0]) + squared(x[1][0]));
  const E mixed = d.let("mixed", x[0][0] * x[0][1] + x[1][0] * x[1][1]);
  const E second = d.let("second", squared(x[0][1]) + squared(x[1][1]));
  const E trace = d.let("trace", first + second);
  const E difference = d.let("difference", first - second);
  const E discriminant = d.let("discriminant", squared(difference) + 4.0 * mixed * mixed);
  const Type square = matrix_of(x, 2, 2);
  const VarId u = b.let("u", make(square, {one, none, none, one}).id);
  const VarId v = b.let("v", make(square, {one, none, none, one}).id);
  const VarId s = b.let_zero("s", vector_of(x, 2));
  b.if_(
      call(Op::kEq, discriminant, none).id,
      [&] {
        const E equal = d.let("equal", root(0.5 * trace));
        b.assign(s, make(vector_of(x, 2), {equal, equal}).id);
      },
      [&] {
        const E spread = d.let("spread", root(discriminant));
        const E inverse = d.let("inverse", reciprocal_root(0.5 * (trace + spread)));
        const E smaller = root(0.5 * (trace - spread));
        b.assign(s, make(vector_of(x, 2), {one / inverse, smaller}).id);
        const E vx = d.let("vx", difference + spread - 2.0 * mixed);
        const E vy = d.let("vy", difference - spread + 2.0 * mixed);
        const E length = d.let("length", squared(vx) + squared(vy));
        const E is_zero = d.let("is_zero", call(Op::kEq, length, none));
        const E factor = d.let("factor", reciprocal_root(choose(is_zero, one, length)));
        const E diagonal = like(x, std::numbers::sqrt2 / 2);
        const E c = d.let("c", choose(is_zero, diagonal, vx * factor));
        const E e = d.let("e", choose(is_zero, diagonal, vy * factor));
        b.assign(v, make(square, {c, -e, e, c}).id);
        const E u1 = d.let("u1", (x[0][0] * c + x[0][1] * e) * inverse);
        const E u2 = d.let("u2", (x[1][0] * c + x[1][1] * e) * inverse);
        const E sign = d.let("sign", call(Op::kSign, x[0][0] * x[1][1] - x[0][1] * x[1][0]));
        b.assign(u, make(square, {u1, -u2 * sign, u2, u1 * sign}).id);
      });
  d.also({&b, b.var(s)});
  d.also({&b, b.var(v)});
  return {&b, b.var(u)};
}

constexpr auto kDecompositionFunctions = std::to_array<LibraryFunction>({
    {{"qr3", "r", "a rotation Q and an upper triangular matrix R with Q R = x"}, orthogonal_triangular},
    {{"svd2", "e", "orthogonal U, descending singular values s and a rotation V with U diag(s) V^T = x"},
     singular_values},
});

}  // namespace

std::span<const LibraryFunction> decomposition_functions() { return kDecompositionFunctions; }

}  // namespace assay::ir
