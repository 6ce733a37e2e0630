#include "backends/cpu/compiler.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/scratch_directory.hpp"
#include "support/hash.hpp"

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

/// Whether the compiler can make a library.
bool can_build_library(const Compiler& compiler) {
  const Result<backends::ScratchDirectory> folder =
      backends::ScratchDirectory::create(std::filesystem::temp_directory_path() / "assay-compiler");
  if (!folder.ok()) return false;
  const std::filesystem::path source = folder->path() / "probe.cpp";
  std::ofstream(source) << "extern \"C\" double cos(double);\nextern \"C\" double probe(double x) { return cos(x); }\n";
  return compiler.build_library(source, folder->path() / "probe.so", {}, kVersionLimit).succeeded();
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

bool uses_default_compiler(const std::string& command) {
  const char* variable = std::getenv("CXX");
  return command.empty() && (variable == nullptr || *variable == '\0');
}

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
  const std::vector<std::string> leading_arguments(words.begin() + 1, words.end());
  std::vector<std::string> arguments = leading_arguments;
  arguments.emplace_back("--version");
  const ProcessResult result = run_process(*program, arguments, kVersionLimit);
  if (!result.succeeded()) {
    return Error{fmt::format("no C++ compiler: '{} --version' failed: {}", fmt::join(words, " "), result.output)};
  }
  return from_version(*program, leading_arguments, result.output);
}

std::optional<Compiler> Compiler::find_fastest(backends::BuildCache* cache) {
  std::optional<std::filesystem::path> program = find_program("clang++");
  for (int version = kNewestVersion; !program && version >= kOldestVersion; --version)
    program = find_program(fmt::format("clang++-{}", version));
  if (!program) return std::nullopt;
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(*program, error);
  const std::string key =
      sha256_hex(fmt::format("fastest compiler\n{}\n{}", program->string(), backends::file_identity(file)));
  std::optional<std::string> output = cache == nullptr ? std::nullopt : cache->read(key);
  if (!output) {
    const ProcessResult version = run_process(*program, {"--version"}, kVersionLimit);
    const bool works = version.succeeded() && can_build_library(from_version(*program, {}, version.output));
    output = works ? version.output : "";
    // A failed cache write only costs time in the next run.
    if (cache != nullptr) static_cast<void>(cache->write(key, *output));
  }
  if (output->empty()) return std::nullopt;
  return from_version(*program, {}, *output);
}

Compiler Compiler::from_version(std::filesystem::path program, std::vector<std::string> leading_arguments,
                                const std::string& output) {
  Compiler compiler;
  compiler.version_ = output.substr(0, output.find('\n'));
  compiler.cache_identity_ =
      fmt::format("{}\n{} {}\n{}", program.string(), program.string(), fmt::join(leading_arguments, " "), output);
  compiler.program_path_ = std::move(program);
  compiler.leading_arguments_ = std::move(leading_arguments);
  if (output.find("clang") != std::string::npos) {
    compiler.bounds_check_arguments_ = {"-fsanitize=bounds", "-fsanitize-trap=bounds"};
  } else if (output.find("Free Software Foundation") != std::string::npos) {
    // Without -strict, GCC does not check the last member of a struct, such as the components of a vector.
    compiler.bounds_check_arguments_ = {"-fsanitize=bounds-strict", "-fsanitize-undefined-trap-on-error"};
    // The code uses no C++ library. Without it and without the start files, the linker takes half the time.
    compiler.link_arguments_ = {"-nostdlib", "-lm", "-lc", "-lgcc"};
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
  arguments.insert(arguments.end(),
                   {"-shared", "-Wl,-z,defs", "-o", library.string(), "-x", "c++", source.string(), "-x", "none"});
  arguments.insert(arguments.end(), link_arguments_.begin(), link_arguments_.end());
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
