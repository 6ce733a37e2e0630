// Launch arguments as text, for kernels that are not launched by a host program.
//
//     s32:5   f32:0.25   u64:0x10          a scalar
//     f32[64]                               a pointer to 64 floats, all zero
//     f32[64]=1.5   =ramp   =random   =?    all 1.5; 0, 1, 2, ...; between 0.5 and 1.5, integers below 8; uninitialized
//     ro:f32[64]=random                     the kernel must not write it
//     array:f32[8,4]=random                 by value {T* data; int shape[N]; long long strides[N] (bytes)}, N from 1 to
//     4
//
// Types are PTX's: u8 to u64, s8 to s64, f32, f64, and b8 to b64 for others.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/ptx/execute/machine.hpp"
#include "support/result.hpp"
#include "support/rng.hpp"

namespace assay::ptx {

/// A launch argument given as text, and the memory allocated for it.
struct ParsedArgument {
  std::string name;                        ///< name of the parameter
  Type type = Type::kNone;                 ///< type of the scalar or, for memory, of its elements
  std::optional<AllocationId> allocation;  ///< memory that the argument points to; nullopt for a scalar
};

/// Adds the argument described by `text` to `arguments`, and allocates its memory in the machine under `name`. Fails if
/// the text is invalid.
Result<ParsedArgument> add_argument(Machine& machine, KernelArguments& arguments, const std::string& name,
                                    std::string_view text, Rng& random);

/// Element `index` of the memory as text.
std::string element_text(std::span<const std::byte> memory, Type type, std::size_t index);

}  // namespace assay::ptx
