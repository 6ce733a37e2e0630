// The attack set: hostile kernels that try to pass without computing the result, or to damage the system. Start here.
//
//   attack        an attack, and the set in five tables: results, gradients, ends, resources, escapes
//   surroundings  files, ports and process state that attacks must not change
//   run_attacks   judges every attack like any other kernel, and checks the surroundings after each
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/records/outcome.hpp"

namespace assay::attacks {

/// The protection that must stop an attack.
enum class Protection : std::uint8_t {
  kResultComparison,  ///< the judge's comparisons of values, guard bands, repetitions and sizes
  kProcessIsolation,  ///< the separate process of generated code; the judge trusts only the bytes of its arrays
  kResourceLimits,    ///< the limits of time, memory and output
  kSystemCallFilter,  ///< the worker's system call filter, if this system supports it
  kFileAccessRules,   ///< the worker's file access rules (Landlock), if this system supports them
};

/// One acceptable result of an attacked case.
struct AllowedOutcome {
  harness::Outcome outcome;         ///< outcome of the case
  std::string_view outcome_detail;  ///< kind of the outcome, as in CaseRecord::outcome_detail
};
/// The outcome if a comparison detects incorrect values.
inline const std::vector<AllowedOutcome> kMismatchOutcomes{{harness::Outcome::fail, "mismatch"}};
/// The outcome if an access outside an array is detected.
inline const std::vector<AllowedOutcome> kMemoryFaultOutcomes{{harness::Outcome::memory_fault, "out_of_bounds"}};

/// A correct kernel, `out[i] = sin(x[i]) + 0.75 * x[i] * y[i]`, with hostile code injected into one of its passes.
///
/// Placeholders in the texts: @FOLDER@ is a folder outside the run's own folder that holds a file "bystander", @PARENT@
/// is the process id of the judge, and @PORT@ is a TCP port of this machine on which the judge listens.
struct Attack {
  std::string name;                              ///< name of the kernel, an identifier
  std::string behavior;                          ///< what the hostile code does; completes "the code ..."
  Protection required_protection;                ///< the protection that must stop it
  std::vector<AllowedOutcome> allowed_outcomes;  ///< accepted outcomes; never a pass
  std::string includes = {};                     ///< names of headers to include, separated by spaces
  std::string declarations = {};                 ///< text inserted at namespace scope, before the kernel
  /// Statements that run at the start of each thread. `thread` is its index, `begin` the first index of the launch;
  /// `continue` ends the thread without writing its result.
  std::string statements = {};
  bool runs_when_loaded = false;  ///< whether it attacks from a static initializer, before any launch
  /// The pass that receives the statements. The backward pass also has the arrays grad_x, grad_y and grad_out.
  backends::Pass pass = backends::Pass::kForward;
};

/// Attacks that return incorrect results. All others compute the correct result, if they can, and misbehave otherwise.
std::vector<Attack> incorrect_results();
/// Attacks that return incorrect gradients in the backward pass; the forward pass is correct.
std::vector<Attack> incorrect_gradients();
/// Attacks that leave the kernel other than by returning.
std::vector<Attack> abnormal_exits();
/// Attacks that exhaust time, memory or disk space.
std::vector<Attack> exhausted_resources();
/// Attacks that try to affect other processes, files and the network.
std::vector<Attack> escapes();

/// All attacks: those on the forward pass in this order, then those on the backward pass (incorrect gradients, and
/// every attack that does not depend on the pass).
std::vector<Attack> attack_set();

std::string_view to_text(Protection protection);

}  // namespace assay::attacks
