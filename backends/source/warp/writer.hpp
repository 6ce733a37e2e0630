// Writes a Module as Warp Python that Warp accepts and that parse_python parses to the same module.
//
// The reader relies on the following choices of spelling:
// - A literal of f32, i32 or bool is bare: 0.5, 3, True. A literal of another type is a constructor call:
//   wp.float64(0.5), wp.int64(-3). A minus directly before a number belongs to the literal.
// - T(number) is also a literal of T: float(0.0) initializes a variable that a loop changes or a cast reads,
//   because Warp treats a bare number as a constant. A cast or a negation of a literal therefore writes the
//   literal that way: wp.float64(float(0.5)), -float(0.5).
// - Infinities and NaN are wp.inf, -wp.inf and wp.nan, in other float types wp.float64(wp.inf) and so on.
// - v[i] = x, s.f = x and a[i].f[j] = x represent an Assign or Store of insert and with_field applied to the old value.
// - s += x represents s = s + x, only for variables and for + - * /.
// - wp.vec3() and P() declare a zero-initialized vector and struct; scalars are initialized with a zero literal.
// - Vector and matrix types without a name in Warp are module-level aliases:
//   vec5 = wp.types.vector(length=5, dtype=float).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source::warp {

/// Writes the whole module as a Python file. Names are made unique and valid. Fails with the source location on
/// constructs that Warp does not support, such as an operation without a Warp name.
Result<std::string> write_python(const ir::Module& module);

/// Writes a file with kernel number `kernel` of the module and the structs and functions that it uses.
Result<std::string> write_kernel(const ir::Module& module, std::size_t kernel);

/// Number of threads with which Warp must launch each block of the written kernel. 0: the kernel has no tiles, and any
/// number does. 1: its text gives each thread a value, an update, an atomic or a local array of its own, as wp.tile(x)
/// and wp.tile_scatter_add() do, and the kernel means what one thread per block computes. Otherwise
/// kThreadsPerTileBlock.
int threads_per_tile_block(const ir::Function& kernel);

/// A file of Warp Python, and the module that parsing this file gives.
struct WrittenModule {
  std::string python_source;  ///< text of the file
  ir::Module module;          ///< module that parsing the file gives
};

/// Writes a module whose only kernel uses all its structs and functions. Also returns the module that parsing the file
/// would give: the same program with the file's names, and locations of statements but not of expressions. Returns
/// nullopt for a module with other parts or with custom derivatives, whose file must be parsed instead.
Result<std::optional<WrittenModule>> write_module(const ir::Module& module, std::string file_name);

}  // namespace assay::source::warp
