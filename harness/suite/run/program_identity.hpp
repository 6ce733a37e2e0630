// Which program this is.
#pragma once

#include <string>

namespace assay::harness {

/// SHA-256 over the build ids of the program and of the libraries that it had loaded when this was first asked: another
/// one whenever any of their code differs. Empty where one of them has no build id, so that it cannot be told from
/// another build of it, and in the program that plants faults in its own judge.
[[nodiscard]] std::string program_identity();

}  // namespace assay::harness
