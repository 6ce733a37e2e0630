// assay capture: runs a Python program and judges the kernels that it launches. The Python package does the work.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace assay::cli {
namespace {

struct CaptureOptions {
  std::vector<std::string> command;
  std::string output = "out";
  std::string device = "cpu";
  bool quick = false;
};

/// Becomes the interpreter, which runs the program with the launches recorded. Returns only on failure.
int capture(const CaptureOptions& options, const std::string& program) {
  const std::string& interpreter = options.command.front();
  if (!std::filesystem::path(interpreter).filename().string().starts_with("python")) {
    return fail(
        Error{fmt::format("the command must start with a Python interpreter, such as python, got '{}'", interpreter)});
  }
  std::vector<std::string> words{interpreter, "-m",           "assay",    "capture",
                                 "--output",  options.output, "--device", options.device};
  if (options.quick) words.emplace_back("--quick");
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // The package runs this program, unless the user chose another one.
  ::setenv("ASSAY_PROGRAM", program.c_str(), 0);
  ::execvp(interpreter.c_str(), pointers.data());
  return fail(Error{fmt::format("cannot run '{}': {}", interpreter, std::strerror(errno))});
}

}  // namespace

void add_capture(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CaptureOptions>();
  CLI::App& command = *app.add_subcommand(
      "capture", "Run a Python program and judge each kernel that it launches, with the arguments of the launches");
  command.add_option("COMMAND", options->command, "After --: the interpreter, the program and its arguments")
      ->option_text("-- python PROGRAM ...")
      ->required();
  command.add_option("--output", options->output, "Output folder for kernels, launches and reports")
      ->option_text("DIR [out]");
  add_device_option(command, options->device, "Device that judges the kernels");
  command.add_flag("--quick", options->quick, "Judge each kernel on few inputs");
  command.footer(
      "The interpreter must have the Python package assay (docs/guide/verify_from_python.md).\n"
      "Exit status: 0 every kernel is verified, 1 a kernel is not verified or the program failed, 2 usage error,\n"
      "4 no kernel was launched.");
  command.callback([options, &invocation] {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    invocation.status = capture(*options, error ? invocation.arguments.front() : program.string());
  });
}

}  // namespace assay::cli
