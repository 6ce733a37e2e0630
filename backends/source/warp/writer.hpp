// Writes a Module as Warp Python that Warp accepts and that read_python reads back to the same module.
//
// How nodes are spelt where Python leaves a choice; the reader relies on it:
// - A literal of f32, i32 or bool is bare: 0.5, 3, True. Of any other type it is its constructor's call:
//   wp.float64(0.5), wp.int64(-3). A minus directly before a number belongs to the literal.
// - T(number) is a literal of T too: float(0.0) starts a variable that a loop changes or a cast reads,
//   because Warp treats a bare number as a constant. A cast or a negation of a literal therefore writes the
//   literal that way: wp.float64(float(0.5)), -float(0.5).
// - Infinities and NaN are wp.inf, -wp.inf and wp.nan, in other float types wp.float64(wp.inf) and so on.
// - v[i] = x, s.f = x and a[i].f[j] = x stand for an Assign or Store of insert and with_field over the old value.
// - s += x stands for s = s + x, for the names of variables and for + - * / only.
// - wp.vec3() and P() declare a vector and a struct that start as zero; scalars start as their zero literal.
// - Vector and matrix types without a name of Warp's own are module-level aliases:
//   vec5 = wp.types.vector(length=5, dtype=float).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source::warp {

/// The whole module as a Python file. Names are made unique and valid where they are not. Fails on what Warp
/// cannot say (an operation without a Warp name, a local array) and names it with its place.
Result<std::string> write_python(const ir::Module& module);

/// A file with kernel number `kernel` of the module, and the structs and functions that it uses.
Result<std::string> write_kernel(const ir::Module& module, std::size_t kernel);

/// A file and what reading it gives.
struct WrittenModule {
  std::string python;
  ir::Module module;
};

/// A module's only kernel, which uses all of its structs and functions, with the module that reading the file of this
/// name gives: the same program with the file's names, and places of statements but not of expressions. Nothing comes
/// back for a module with other parts or with custom derivatives, which has to be read.
Result<std::optional<WrittenModule>> write_module(const ir::Module& module, std::string file_name);

}  // namespace assay::source::warp
