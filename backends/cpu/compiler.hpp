// The C++ compiler that builds kernels for the CPU.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/cpu/process.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cpu {

/// The command-line options of a numeric mode, for GCC and Clang alike.
///
/// No option gives meaning to what C++ leaves undefined: sources are judged as their users compile them. Approximate
/// functions take the parts of -ffast-math that change this library's code alone: the option itself also links a
/// start-up file that flushes subnormals in all kernels of the process.
[[nodiscard]] std::vector<std::string> compiler_arguments(const backends::BuildFlags& flags);

class Compiler {
 public:
  /// `command` may carry leading options, as "ccache g++"; when empty, $CXX, else c++. Fails when it cannot be run.
  static Result<Compiler> find(const std::string& command);

  /// The first line of what --version prints: "g++ (Debian 12.2.0-14) 12.2.0".
  [[nodiscard]] const std::string& version() const { return version_; }
  /// The program, without links; empty if it is gone.
  [[nodiscard]] std::filesystem::path program() const;
  /// All that a cache key needs to know of the compiler.
  [[nodiscard]] const std::string& identity() const { return identity_; }

  /// Compiles and links one source file to a shared library whose symbols must all resolve.
  [[nodiscard]] ProcessResult build_library(const std::filesystem::path& source, const std::filesystem::path& library,
                                            const backends::BuildFlags& flags, std::chrono::milliseconds limit) const;
  /// What build_library runs for kernel.cpp, as one line for a shell.
  [[nodiscard]] std::string library_command(const backends::BuildFlags& flags) const;
  /// Compiles one source file to assembly, without what debuggers and unwinders read.
  [[nodiscard]] ProcessResult build_assembly(const std::filesystem::path& source, const std::filesystem::path& assembly,
                                             const backends::BuildFlags& flags, std::chrono::milliseconds limit) const;

 private:
  [[nodiscard]] std::vector<std::string> arguments_of(const backends::BuildFlags& flags) const;
  [[nodiscard]] std::vector<std::string> library_arguments(const std::filesystem::path& source,
                                                           const std::filesystem::path& library,
                                                           const backends::BuildFlags& flags) const;

  Compiler() = default;

  std::filesystem::path program_;
  std::vector<std::string> leading_arguments_;
  std::string version_;
  std::string identity_;
};

}  // namespace assay::cpu
