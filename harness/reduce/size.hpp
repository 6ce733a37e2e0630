// How large a kernel is to a person who reads it.
#pragma once

#include <compare>
#include <cstdint>

#include "ir/module.hpp"

namespace assay::reduce {

/// What a reduction makes smaller, the most important first: sizes compare member by member. Functions of Warp's
/// library, which a Python text only names, do not count.
struct Size {
  std::int64_t statements = 0;   ///< of the kernel and its functions, those in blocks included
  std::int64_t functions = 0;    ///< beside the kernel; one with a derivative of its own counts twice
  std::int64_t expressions = 0;  ///< nodes: a literal 1, a variable 2, any other 3
  std::int64_t parameters = 0;   ///< parameters and their dimensions, thread indices, fields of structs
  std::int64_t types = 0;        ///< scalars that are neither f32, i32 nor bool, and components of aggregates
  std::int64_t literals = 0;     ///< digits
  std::int64_t inputs = 0;       ///< what the comments above the kernel leave open of its launch and its inputs

  friend auto operator<=>(const Size&, const Size&) = default;
};

/// Of a valid module whose only kernel is the first.
Size size_of(const ir::Module& module);

}  // namespace assay::reduce
