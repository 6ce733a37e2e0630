// The numbers that bits represent.
#pragma once

#include <cstdint>

#include "backends/ptx/parse/type.hpp"

namespace assay::ptx {

/// The number that the bits of a float represent, for f16, bf16, tf32, f32 and f64. Bits above the type's size have no
/// effect.
double number_of(Type type, std::uint64_t bits);

}  // namespace assay::ptx
