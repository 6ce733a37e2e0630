#include "cli/program.hpp"

#include <array>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include "backends/cpu/worker.hpp"
#include "backends/cuda/worker.hpp"
#include "cli/command.hpp"
#include "harness/suite/select/suggest.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

constexpr const char* kAbout =
    "Proves that generated kernels compute what their Python source says, forward and backward.";

constexpr const char* kFooter =
    "Exit status: 0 as expected, 1 unexpected, 2 usage, 3 internal, 4 nothing ran, 77 all unsupported.\n"
    "Start with: assay doctor, assay list, assay run loop, assay run FILE.py";

/// A standard stream that the caller closed must not become the descriptor of a file that is written.
void open_standard_streams() {
  for (const int stream : std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;
  }
}

/// Each large launch takes and frees the same megabytes again. To hand them to the system in between took a quarter of
/// a run's time, in page faults.
void keep_freed_memory() {
  constexpr int kTaken = 64 << 20, kKept = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kTaken);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

/// What is wrong with the command line, in one line.
std::string diagnostic(const CLI::App& app, const CLI::ParseError& error, const Invocation& invocation) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return fmt::format("{}; see assay {} --help", error.what(), chosen.front()->get_name());
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  if (invocation.words.size() < 2) return fmt::format("no command, expected one of {}", fmt::join(names, ", "));
  const std::string& word = invocation.words[1];
  return fmt::format("unknown command or option '{}'{}; expected one of {}", word, harness::did_you_mean(word, names),
                     fmt::join(names, ", "));
}

int run(int argc, char** argv) {
  CLI::App app(kAbout, "assay");
  app.footer(kFooter);
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  Invocation invocation{.words = {argv, argv + argc}};
  for (const auto add :
       {add_run, add_emit, add_diff, add_generate, add_validate, add_dataset, add_mutate, add_bench, add_list,
        add_profile, add_calibrate, add_ptx, add_doctor, add_report, add_compare, add_state, add_reduce, add_reproduce})
    add(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    print_error(diagnostic(app, error, invocation));
    return to_int(ExitStatus::usage);
  }
  return invocation.status;
}

}  // namespace

std::optional<int> run_if_worker(int argc, char** argv) {
  if (const auto status = cpu::run_if_worker(argc, argv)) return status;
  return cuda::run_if_worker(argc, argv);
}

int run_program(int argc, char** argv) {
  open_standard_streams();
  keep_freed_memory();
  // A limit on file sizes and a reader that went away are write errors, told where they happen, and not sudden deaths.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::exception& accident) {
    print_error(fmt::format("internal: {}", accident.what()));
    return to_int(ExitStatus::internal);
  }
}

}  // namespace assay::cli
