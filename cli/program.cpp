#include "cli/program.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include "backends/candidate/host/worker.hpp"
#include "backends/cpu/worker.hpp"
#include "backends/cuda/worker.hpp"
#include "backends/warp/worker.hpp"
#include "cli/commands.hpp"
#include "harness/suite/select/suggest.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

constexpr const char* kAbout = "Verifies that GPU kernels compute what their Python source says, forward and backward.";

constexpr const char* kProgramFooter =
    "Exit status: 0 all results as expected, 1 unexpected results, 2 usage error, 3 internal error, 4 nothing ran,\n"
    "77 every case is unsupported here.\n"
    "Start with: assay doctor, assay list, assay run loop, assay run FILE.py";

/// Keeps the descriptor of a standard stream that the caller closed from being reused for an output file.
void open_standard_streams() {
  for (const int stream : std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;
  }
}

/// Keeps freed megabytes in the process: each large launch allocates them again, and returning them to the system in
/// between took a quarter of a run's time in page faults. For the allocator of the C library; tcmalloc does so anyway.
void keep_freed_memory() {
  constexpr int kTaken = 64 << 20, kKept = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kTaken);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

/// Old names of commands and options, which work for one more release; docs/guide/renamed.md lists them for users.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOldNames{{
    {"certify", "mutate"},
    {"--plants", "--inject-faults"},
    {"--mirror", "--cross-check"},
    {"--certification", "--mutation-score"},
    {"--controls", "--correct"},
}};

/// The words after the program's name, with present names for old ones; last word first, as CLI11 takes them.
std::vector<std::string> arguments_of(const std::vector<std::string>& words) {
  std::vector<std::string> arguments(words.begin() + (words.empty() ? 0 : 1), words.end());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& word = arguments[i];
    const std::string name = word.substr(0, word.find('='));
    for (const auto& [old_name, new_name] : kOldNames) {
      if (name == old_name && (i == 0 || name.starts_with("--"))) word.replace(0, name.size(), new_name);
    }
  }
  std::ranges::reverse(arguments);
  return arguments;
}

/// The error in the command line, in one line.
std::string diagnostic(const CLI::App& app, const CLI::ParseError& error, const Invocation& invocation) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return fmt::format("{}; see 'assay {} --help'", error.what(), chosen.front()->get_name());
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  if (invocation.arguments.size() < 2)
    return fmt::format("missing command; expected one of {}", fmt::join(names, ", "));
  const std::string& word = invocation.arguments[1];
  return fmt::format("unknown command or option '{}'{}; expected one of {}", word, harness::did_you_mean(word, names),
                     fmt::join(names, ", "));
}

/// Rejects an empty --output in every command. An empty path would be the current folder.
void require_name_of_output(CLI::App& app) {
  for (CLI::App* const command : app.get_subcommands(nullptr)) {
    if (CLI::Option* const output = command->get_option_no_throw("--output"); output != nullptr) {
      output->check(
          [](const std::string& text) { return std::string(text.empty() ? "must not be empty; give a path" : ""); });
    }
    require_name_of_output(*command);
  }
}

int run(int argc, char** argv, AddCommands& add) {
  CLI::App app(kAbout, "assay");
  app.footer(kProgramFooter);
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  Invocation invocation{.arguments = {argv, argv + argc}};
  add(app, invocation);
  require_name_of_output(app);
  try {
    app.parse(arguments_of(invocation.arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    print_error(diagnostic(app, error, invocation));
    return to_int(ExitStatus::usage);
  }
  return invocation.status;
}

}  // namespace

void add_judge_commands(CLI::App& app, Invocation& invocation) {
#define ASSAY_ADD_COMMAND(name) add_##name(app, invocation);
#define ASSAY_SKIP_COMMAND(name)
  ASSAY_COMMANDS(ASSAY_ADD_COMMAND, ASSAY_SKIP_COMMAND)
#undef ASSAY_SKIP_COMMAND
#undef ASSAY_ADD_COMMAND
}

std::optional<int> run_if_worker(int argc, char** argv) {
  if (const auto status = candidate::run_if_worker(argc, argv)) return status;
  if (const auto status = cpu::run_if_worker(argc, argv)) return status;
  if (const auto status = warp::run_if_worker(argc, argv)) return status;
  return cuda::run_if_worker(argc, argv);
}

int run_program(int argc, char** argv, AddCommands& add) {
  open_standard_streams();
  keep_freed_memory();
  // A limit on file sizes and a reader that went away become write errors, which are reported where they happen.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv, add);
  } catch (const std::exception& accident) {
    print_error(fmt::format("internal error: {}", accident.what()));
    return to_int(ExitStatus::internal);
  }
}

}  // namespace assay::cli
