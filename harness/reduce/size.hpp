// The size of a kernel for a reader.
#pragma once

#include <compare>
#include <cstdint>

#include "ir/module.hpp"

namespace assay::reduce {

/// The size that a reduction minimizes. Compared member by member, the most important first. Functions of Warp's
/// library are not counted.
struct KernelSize {
  std::int64_t statements = 0;  ///< number of statements of the kernel and its functions, including nested ones
  std::int64_t functions = 0;   ///< number of functions without the kernel; one with a custom derivative counts twice
  std::int64_t expression_weight = 0;  ///< weighted nodes: a literal counts 1, a variable 2, any other node 3
  std::int64_t parameters = 0;   ///< number of parameters and their dimensions, thread indices, and fields of structs
  std::int64_t type_weight = 0;  ///< scalars that are neither f32, i32 nor bool, and components of aggregates
  std::int64_t literal_digits = 0;        ///< number of digits of all literals
  std::int64_t unfixed_input_weight = 0;  ///< weight of launch dimensions and inputs that preconditions do not fix

  friend auto operator<=>(const KernelSize&, const KernelSize&) = default;
};

/// The size of a valid module with one kernel.
KernelSize size_of(const ir::Module& module);

}  // namespace assay::reduce
