// Handles Ctrl-C so that an interrupted run keeps everything that it recorded.
#pragma once

#include <functional>

namespace assay::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP runs `farewell` in a separate thread and then ends the process
/// by that signal. A second signal ends the process at once. Signals that are ignored stay ignored. At most one guard
/// may exist at a time.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::function<void()> farewell);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// Blocks forever if a signal is about to end the process, else returns. Failures that child processes report from
  /// then on are caused by the signal, because the terminal sends it to them too.
  static void check();
};

}  // namespace assay::cli
