// The attack set: code that tries to pass without computing, or to do harm instead. Start reading here.
//
//   attack        what an attack is; the set in five tables: results, gradients, ends, resources, escapes
//   surroundings  what must come through unharmed
//   run_attacks   has every attack judged as any kernel is, and looks at the surroundings after each
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/records/outcome.hpp"

namespace assay::attacks {

/// What an attack fails on.
enum class Guard : std::uint8_t {
  kJudge,        ///< values, the memory around arrays, repetitions and sizes are compared
  kProcess,      ///< generated code has a process of its own, of which nothing but the arrays' bytes is believed
  kLimits,       ///< of time, memory and output
  kSystemCalls,  ///< the worker's filter of system calls, where this system has it
  kFiles,        ///< Landlock, where this system has it
};

/// How a case may end.
struct Ending {
  harness::Outcome outcome;
  std::string_view kind;
};

/// A right kernel, `out[i] = sin(x[i]) + 0.75 * x[i] * y[i]`, with an attack planted into one of its passes.
///
/// In the texts @FOLDER@ stands for a folder outside of the run's own that holds a file "bystander", @PARENT@ for the
/// judging process's number and @PORT@ for a TCP port of this machine that it listens on.
struct Attack {
  std::string name;  ///< an identifier, the kernel's name
  std::string does;  ///< completes "the code ..."
  Guard guard;
  std::vector<Ending> endings;    ///< one of these, and never a pass
  std::string includes = {};      ///< headers, with blanks between
  std::string declarations = {};  ///< at namespace scope, in front of the kernel
  /// Where a thread starts: its number is `thread`, the first of the launch is `begin`; `continue` leaves the thread
  /// without its result.
  std::string statements = {};
  bool when_loaded = false;  ///< it attacks before any launch, from a static initialiser
  /// Into whose threads the statements are put. A backward pass has the arrays grad_x, grad_y and grad_out as well.
  backends::Pass pass = backends::Pass::kForward;
};

/// Results that are not computed. All others compute right and misbehave otherwise, unless they cannot.
std::vector<Attack> false_results();
/// The same of gradients, in the backward pass; the forward pass is right.
std::vector<Attack> false_gradients();
/// Ways to leave the kernel other than by returning.
std::vector<Attack> early_ends();
/// Time, memory and output without end.
std::vector<Attack> used_up_resources();
/// Ways out of the process.
std::vector<Attack> escapes();

/// All of them: in the forward pass, in this order, and then in the backward pass false gradients and whatever does not
/// depend on the pass.
std::vector<Attack> attack_set();

std::string_view to_text(Guard guard);

}  // namespace assay::attacks
