// Ctrl-C, taken so that a run ends with everything that it recorded.
#pragma once

#include <functional>

namespace assay::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP runs `farewell` in a thread of its own, and then ends the
/// process by that signal. A second one ends it at once, and one
/// that is ignored stays so. At most one at a time.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::function<void()> farewell);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// Returns unless the process is about to end, and then never: what children of this process report from now on is
  /// the signal's doing, because the terminal sends it to them too.
  static void check();
};

}  // namespace assay::cli
