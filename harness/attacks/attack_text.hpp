// The outcome of the attack set, as text for people.
#pragma once

#include <string>

#include "harness/attacks/run_attacks.hpp"

namespace assay::attacks {

/// A line for each attack, the counts, and all problems. `confinement` describes how generated code is confined.
std::string attack_table(const AttackReport& report, const std::string& confinement, bool color);

/// The table as a Markdown page.
std::string attack_document(const AttackReport& report, const std::string& confinement);

}  // namespace assay::attacks
