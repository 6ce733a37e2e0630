// A launch that a program made, with its arguments.
#pragma once

#include <span>
#include <string>

#include "ir/launch.hpp"

namespace assay::harness {

struct RecordedLaunch {
  std::string name;   ///< for messages: the file that holds it
  ir::Launch launch;  ///< of the kernel's module; arrays are dense
};

/// A hash of everything in the launches that a verdict depends on.
std::string digest_of(std::span<const RecordedLaunch> launches);

}  // namespace assay::harness
