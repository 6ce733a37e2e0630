// Identifies the running program.
#pragma once

#include <string>

namespace assay::harness {

/// SHA-256 over the build ids of the program and of the libraries loaded at the first call; changes whenever any of
/// their code changes. Empty if one of them has no build id, and in the program that injects faults into its own judge.
[[nodiscard]] std::string program_identity();

}  // namespace assay::harness
