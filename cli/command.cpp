#include "cli/command.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "cli/devices.hpp"

namespace assay::cli {

void tell(std::string_view text) {
  std::string line;
  for (const char c : text)
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  std::fflush(stdout);
  std::fputs((line + "\n").c_str(), stderr);
}

void print_error(std::string_view text) { tell(fmt::format("assay: error: {}", text)); }

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

void add_baseline_option(CLI::App& command, std::string& path) {
  command.add_option("--baseline", path, "Tell what changed since an earlier run: its folder, or its failures.csv")
      ->option_text("PATH");
}

void add_mutation_score_option(CLI::App& command, std::string& dir) {
  command.add_option("--certification", dir, "Show the score of `assay certify --output DIR` in the report")
      ->option_text("DIR");
}

void add_device_option(CLI::App& command, std::string& device, const std::string& does) {
  command.add_option("--device", device, does)
      ->option_text(fmt::format("{{{}}} [{}]", fmt::join(kDeviceNames, ","), device))
      ->check(CLI::IsMember(std::vector<std::string>(kDeviceNames.begin(), kDeviceNames.end())));
}

}  // namespace assay::cli
