#include "backends/cpu/compiler.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/scratch_directory.hpp"

namespace assay::cpu {
namespace {

constexpr auto kVersionLimit = std::chrono::seconds{20};

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::string command_or_default(const std::string& command) {
  if (!command.empty()) {
    return command;
  }
  const char* variable = std::getenv("CXX");
  return variable != nullptr && *variable != '\0' ? variable : "c++";
}

constexpr std::chrono::seconds kLimit{30};

Result<std::string> assembly_of(const Compiler& compiler, const std::filesystem::path& folder,
                                const backends::EmittedKernel& kernel, backends::Precision precision) {
  // Both kernels use the same file name, because the assembly contains it.
  const std::filesystem::path source = folder / "kernel.cpp";
  const std::filesystem::path assembly = folder / "kernel.s";
  std::ofstream file(source);
  if (precision == backends::Precision::kPromoted) file << "#define ASSAY_REAL double\n";
  file << kernel.source();
  file.close();
  if (!file) return Error{"cannot write the source file", source.string()};
  const ProcessResult made = compiler.build_assembly(source, assembly, {.optimization_level = 2}, kLimit);
  if (!made.succeeded()) return Error{"the compiler rejected the kernel: " + made.output, kernel.name};
  std::ostringstream text;
  text << std::ifstream(assembly).rdbuf();
  return text.str();
}

}  // namespace

std::vector<std::string> compiler_arguments(const backends::BuildFlags& flags) {
  std::vector<std::string> arguments{"-std=c++17", fmt::format("-O{}", flags.optimization_level)};
  if (!flags.contracts_multiply_add) {
    arguments.emplace_back("-ffp-contract=off");
  }
  if (flags.uses_approximate_functions) {
    arguments.insert(arguments.end(), {"-fno-math-errno", "-freciprocal-math", "-fassociative-math",
                                       "-fno-signed-zeros", "-fno-trapping-math"});
  }
  return arguments;
}

Result<Compiler> Compiler::find(const std::string& command) {
  std::vector<std::string> words = split_words(command_or_default(command));
  if (words.empty()) {
    return Error{"the C++ compiler command is empty; set CXX"};
  }
  const auto program = find_program(words.front());
  if (!program) {
    return Error{fmt::format("no C++ compiler: '{}' is not a program; set CXX", words.front())};
  }
  Compiler compiler;
  compiler.program_path_ = *program;
  compiler.leading_arguments_.assign(words.begin() + 1, words.end());
  std::vector<std::string> arguments = compiler.leading_arguments_;
  arguments.emplace_back("--version");
  const ProcessResult result = run_process(compiler.program_path_, arguments, kVersionLimit);
  if (!result.succeeded()) {
    return Error{fmt::format("no C++ compiler: '{} --version' failed: {}", fmt::join(words, " "), result.output)};
  }
  compiler.version_ = result.output.substr(0, result.output.find('\n'));
  compiler.cache_identity_ = fmt::format("{}\n{}\n{}", program->string(), fmt::join(words, " "), result.output);
  if (result.output.find("clang") != std::string::npos) {
    compiler.bounds_check_arguments_ = {"-fsanitize=bounds", "-fsanitize-trap=bounds"};
  } else if (result.output.find("Free Software Foundation") != std::string::npos) {
    // Without -strict, GCC does not check the last member of a struct, such as the components of a vector.
    compiler.bounds_check_arguments_ = {"-fsanitize=bounds-strict", "-fsanitize-undefined-trap-on-error"};
  }
  return compiler;
}

std::filesystem::path Compiler::program() const {
  std::error_code error;
  return std::filesystem::canonical(program_path_, error);
}

std::vector<std::string> Compiler::mode_arguments(const backends::BuildFlags& flags) const {
  std::vector<std::string> arguments = compiler_arguments(flags);
  if (flags.optimization_level == 0)
    arguments.insert(arguments.end(), bounds_check_arguments_.begin(), bounds_check_arguments_.end());
  return arguments;
}

std::vector<std::string> Compiler::arguments_of(const backends::BuildFlags& flags) const {
  std::vector<std::string> arguments = leading_arguments_;
  const std::vector<std::string> mode = mode_arguments(flags);
  arguments.insert(arguments.end(), mode.begin(), mode.end());
  arguments.insert(arguments.end(), {"-w", "-fPIC", "-fno-exceptions", "-fno-rtti"});
  return arguments;
}

std::vector<std::string> Compiler::library_arguments(const std::filesystem::path& source,
                                                     const std::filesystem::path& library,
                                                     const backends::BuildFlags& flags) const {
  std::vector<std::string> arguments = arguments_of(flags);
  arguments.insert(arguments.end(), {"-shared", "-Wl,-z,defs", "-o", library.string(), "-x", "c++", source.string(),
                                     "-x", "none", "-lm"});
  return arguments;
}

ProcessResult Compiler::build_library(const std::filesystem::path& source, const std::filesystem::path& library,
                                      const backends::BuildFlags& flags, std::chrono::milliseconds limit) const {
  return run_process(program_path_, library_arguments(source, library, flags), limit);
}

std::string Compiler::library_command(const backends::BuildFlags& flags) const {
  return fmt::format("{} {}", program_path_.string(),
                     fmt::join(library_arguments("kernel.cpp", "kernel.so", flags), " "));
}

ProcessResult Compiler::build_assembly(const std::filesystem::path& source, const std::filesystem::path& assembly,
                                       const backends::BuildFlags& flags, std::chrono::milliseconds limit) const {
  std::vector<std::string> arguments = arguments_of(flags);
  arguments.insert(arguments.end(), {"-S", "-fno-asynchronous-unwind-tables", "-fno-ident", "-g0", "-o",
                                     assembly.string(), "-x", "c++", source.string()});
  return run_process(program_path_, arguments, limit);
}

Result<bool> compiles_to_same_code(const std::string& command, const backends::EmittedKernel& a,
                                   const backends::EmittedKernel& b) {
  const Result<Compiler> compiler = Compiler::find(command);
  if (!compiler.ok()) return compiler.error();
  const Result<backends::ScratchDirectory> folder =
      backends::ScratchDirectory::create(std::filesystem::temp_directory_path() / "assay-code");
  if (!folder.ok()) return folder.error();
  for (const backends::Precision precision : {backends::Precision::kNative, backends::Precision::kPromoted}) {
    const Result<std::string> first = assembly_of(*compiler, folder->path(), a, precision);
    const Result<std::string> second = assembly_of(*compiler, folder->path(), b, precision);
    if (!first.ok() || !second.ok()) return (first.ok() ? second : first).error();
    if (*first != *second) return false;
  }
  return true;
}

}  // namespace assay::cpu
