#include "cli/interrupt.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace assay::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// State that the handler may access: a lock-free flag and a pipe to the thread that does the rest.
std::atomic<bool> ending{false};
static_assert(std::atomic<bool>::is_always_lock_free);
std::array<int, 2> signal_pipe{-1, -1};
std::thread watcher;

constexpr char kNoSignal = 0;

void send(char number) {
  while (::write(signal_pipe[1], &number, 1) < 0 && errno == EINTR) {
  }
}

void on_signal(int number) {
  ending = true;
  send(static_cast<char>(number));
}

/// A signal that the caller has this process ignore, as nohup does, stays ignored.
void set_handlers(void (*handler)(int), int flags) {
  for (const int number : kSignals) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

void watch(const std::function<void()>& farewell) {
  char number = kNoSignal;
  while (::read(signal_pipe[0], &number, 1) < 0 && errno == EINTR) {
  }
  if (number == kNoSignal) return;
  farewell();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

InterruptGuard::InterruptGuard(std::function<void()> farewell) {
  if (::pipe2(signal_pipe.data(), O_CLOEXEC) != 0) return;  // without a pipe, signals end the process as by default
  watcher = std::thread(watch, std::move(farewell));
  set_handlers(on_signal, static_cast<int>(SA_RESTART | SA_RESETHAND));
}

InterruptGuard::~InterruptGuard() {
  if (!watcher.joinable()) return;
  set_handlers(SIG_DFL, 0);
  send(kNoSignal);
  watcher.join();
  for (int& end : signal_pipe)
    ::close(std::exchange(end, -1));
}

void InterruptGuard::check() {
  while (ending)
    ::pause();
}

}  // namespace assay::cli
