// The outcome of the attack set, for people.
#pragma once

#include <string>

#include "harness/attacks/run_attacks.hpp"

namespace assay::attacks {

/// A line for each attack, the counts, and everything that went wrong. `confinement` says what confines generated code.
std::string attack_table(const AttackReport& report, const std::string& confinement, bool color);

/// The same as a Markdown page.
std::string attack_document(const AttackReport& report, const std::string& confinement);

}  // namespace assay::attacks
