#include "cli/command.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

namespace assay::cli {

void print_message(std::string_view text) {
  std::string line;
  for (const char c : text)
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  std::fflush(stdout);
  std::fputs((line + "\n").c_str(), stderr);
}

void print_error(std::string_view text) { print_message(fmt::format("assay: error: {}", text)); }

int fail(const Error& error, ExitStatus status) {
  print_error(error.text());
  return to_int(status);
}

Result<void> print(std::string_view text) {
  errno = 0;
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return {};
  if (errno == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return Error{std::generic_category().message(errno), "cannot write to standard output"};
}

int print_or_fail(std::string_view text) {
  const Result<void> printed = print(text);
  return printed.ok() ? 0 : fail(printed.error(), ExitStatus::internal);
}

int fail_unsupported(std::string_view device, std::string_view reason) {
  return fail({fmt::format("the device {} cannot run on this machine: {}", device, reason)},
              ExitStatus::all_unsupported);
}

}  // namespace assay::cli
