// assay certify --attacks.
#pragma once

#include <cstdint>
#include <string>

#include "reports/formats/terminal.hpp"

namespace assay::cli {

struct AttackRun {
  std::uint64_t seed = 1;
  bool quick = false;
  std::string compiler;  ///< empty: $CXX, else c++
  std::string document;  ///< the Markdown file to write; empty: none
  reports::ColorChoice color = reports::ColorChoice::automatic;
};

/// Has the attack set judged on the CPU device and prints what became of each attack; the process's exit status. 0 only
/// if all that were run were caught and nothing around them was harmed. Not run, and counted so, are those that nothing
/// would hold on this system.
int run_attack_set(const AttackRun& options);

}  // namespace assay::cli
