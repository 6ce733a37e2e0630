// A launch that a program made, with its arguments.
#pragma once

#include <span>
#include <string>

#include "ir/launch.hpp"

namespace assay::harness {

/// A launch of the kernel that was recorded in a running program.
struct RecordedLaunch {
  std::string file_name;  ///< path of the file that holds it, for messages
  ir::Launch launch;      ///< arguments for the kernel's module; arrays are dense
};

/// A hash of everything in the launches that a verdict depends on.
std::string digest_of(std::span<const RecordedLaunch> launches);

}  // namespace assay::harness
