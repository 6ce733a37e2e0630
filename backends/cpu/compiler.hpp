// The C++ compiler that builds CPU kernels.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/process.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cpu {

/// Installed compilers are found under names with these version numbers as well, such as "clang++-19".
constexpr int kOldestVersion = 9;
constexpr int kNewestVersion = 25;

/// The command-line options of a numeric mode, valid for both GCC and Clang.
///
/// No option defines behavior that C++ leaves undefined, because sources are judged as their users compile them.
/// Compiler::mode_arguments adds options that only detect such behavior.
/// Approximate functions use only the parts of -ffast-math that affect this library's code. The option itself would
/// also link a start-up file that flushes subnormals in all kernels of the process.
[[nodiscard]] std::vector<std::string> compiler_arguments(const backends::BuildFlags& flags);

/// Whether an option with this command leaves the choice of the compiler to Assay: it is empty, and $CXX is not set.
[[nodiscard]] bool uses_default_compiler(const std::string& command);

/// A C++ compiler command, such as "ccache g++".
class Compiler {
 public:
  /// `command` may have several words, such as "ccache g++". If it is empty, $CXX is used, then c++. Fails if the
  /// command cannot be run.
  static Result<Compiler> find(const std::string& command);

  /// The Clang that is first on the path, or else the newest one there, if it can compile and link. The answer is kept
  /// in the cache, if one is given, until the compiler's file changes, because starting the compiler takes longer than
  /// many kernels take to compile.
  static std::optional<Compiler> find_fastest(backends::BuildCache* cache);

  /// The first line of what --version prints: "g++ (Debian 12.2.0-14) 12.2.0".
  [[nodiscard]] const std::string& version() const { return version_; }
  /// The path of the program with symbolic links resolved; empty if the program no longer exists.
  [[nodiscard]] std::filesystem::path program() const;
  /// Identifies the compiler in cache keys.
  [[nodiscard]] const std::string& identity() const { return cache_identity_; }

  /// Returns compiler_arguments() and, without optimization, options that end a launch with SIGILL if it accesses an
  /// element outside an array of fixed size: a vector, a matrix or a local array. They do not detect a reference to the
  /// element directly after the last one. A compiler other than GCC and Clang gets no such options.
  [[nodiscard]] std::vector<std::string> mode_arguments(const backends::BuildFlags& flags) const;
  /// Compiles and links one source file into a shared library without undefined symbols.
  [[nodiscard]] ProcessResult build_library(const std::filesystem::path& source, const std::filesystem::path& library,
                                            const backends::BuildFlags& flags, std::chrono::milliseconds limit) const;
  /// The shell command that build_library runs for kernel.cpp, in one line.
  [[nodiscard]] std::string library_command(const backends::BuildFlags& flags) const;
  /// Compiles one source file to assembly, without debug and unwind information.
  [[nodiscard]] ProcessResult build_assembly(const std::filesystem::path& source, const std::filesystem::path& assembly,
                                             const backends::BuildFlags& flags, std::chrono::milliseconds limit) const;

 private:
  [[nodiscard]] std::vector<std::string> arguments_of(const backends::BuildFlags& flags) const;
  /// Returns the options that compile the source to the library.
  [[nodiscard]] std::vector<std::string> library_arguments(const std::filesystem::path& source,
                                                           const std::filesystem::path& library,
                                                           const backends::BuildFlags& flags) const;

  Compiler() = default;
  /// A compiler with the output of --version.
  static Compiler from_version(std::filesystem::path program, std::vector<std::string> leading_arguments,
                               const std::string& output);

  std::filesystem::path program_path_;  ///< the compiler's executable, or the first word of the command, such as ccache
  std::vector<std::string> leading_arguments_;  ///< words of the command after the program, passed before all options
  std::vector<std::string> bounds_check_arguments_;  ///< options that check indices; see mode_arguments()
  std::vector<std::string> link_arguments_{"-lm"};   ///< libraries of a shared library, and options for the linker
  std::string version_;                              ///< first line of the compiler's output for --version
  std::string cache_identity_;                       ///< text that identifies the compiler in cache keys
};

/// Returns whether the compiler generates the same code for both kernels at -O2, in both precisions. `compiler` is a
/// command; empty: $CXX, then c++. Both kernels must be CPU sources with the same symbols. Fails if the compiler cannot
/// be run or rejects a kernel.
Result<bool> compiles_to_same_code(const std::string& compiler, const backends::EmittedKernel& a,
                                   const backends::EmittedKernel& b);

}  // namespace assay::cpu
