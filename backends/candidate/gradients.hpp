// Gradients that a candidate computes without adding them to the initial gradient. Private to the device.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "support/result.hpp"

namespace assay::candidate {

/// Adds `count` dense floats of `terms` to those of `sum`. `type`: Warp's name of their type. Fails for a type in which
/// the sum would be rounded too much to be judged.
Result<void> add_gradient(std::string_view type, std::span<std::byte> sum, std::span<const std::byte> terms,
                          std::size_t count);

/// Adds `count` dense floats, the gradient before the launch, to the unrounded values of a result, which have the
/// format of MemoryRegion::unrounded_values.
void add_to_unrounded(std::span<std::byte> unrounded, std::string_view type, std::span<const std::byte> before,
                      std::size_t count);

}  // namespace assay::candidate
