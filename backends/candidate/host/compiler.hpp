// Compiles a candidate with host code to a library that the worker loads. The compiler is nvcc or clang.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "backends/candidate/host/load_inline.hpp"
#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// The nvcc that compiles candidates: $ASSAY_NVCC, the one that ci/setup-nvcc installed, the one on the path, or that
/// of the CUDA Toolkit. Fails if there is none.
Result<std::filesystem::path> find_nvcc();

/// The folders of the CUDA Toolkit's headers, such as cuda_fp16.h; empty without nvcc.
std::vector<std::filesystem::path> toolkit_headers();

/// The version that nvcc prints: "13.0.88"; empty if it prints none.
std::string nvcc_version(const std::filesystem::path& nvcc);

/// The clang++ that compiles candidates: $ASSAY_CLANG, clang++-19 or later, or clang++ on the path if it is recent
/// enough.
Result<std::filesystem::path> find_clang();

/// A compiler of CUDA sources with host code.
struct HostCompiler {
  bool is_clang = false;          ///< whether it is clang instead of nvcc
  std::filesystem::path program;  ///< path of nvcc or clang++
  std::string version;            ///< "13.0.88", "19.1.7"
  /// The folder of the CUDA Toolkit, from which clang takes headers and the device library.
  std::filesystem::path toolkit;

  /// Its name and version: "nvcc 13.0.88".
  [[nodiscard]] std::string text() const { return (is_clang ? "clang " : "nvcc ") + version; }
};

/// Names of compilers for --cuda-compiler; the first one is the default.
inline constexpr std::array<const char*, 2> kHostCompilerNames{"nvcc", "clang"};

/// The compiler with this name, or the default one if the name is empty. Fails if it is not installed.
Result<HostCompiler> find_host_compiler(const std::string& name);

/// What a library is made of.
struct LibraryBuildRequest {
  const HostSource* source = nullptr;  ///< source of the candidate
  std::string host_function_name;      ///< the host function that Assay calls
  std::string backward_function_name;  ///< the one for the backward pass; empty: none
  std::string architecture;            ///< "compute_75"
  /// The CUDA file of the candidate, in whose folder its own headers are; empty: the candidate is a Python file.
  std::filesystem::path cuda_file = {};
};

/// Everything that the object file of the CUDA runtime functions depends on, in one text: for the key of a cache.
std::string runtime_identity(const LibraryBuildRequest& request, const HostCompiler& compiler);

/// Compiles the CUDA runtime functions to `object`, which is linked to each candidate's library. They do not depend on
/// the text of the candidate. `folder` gets the sources. Returns the compiler's output.
std::variant<std::string, backends::BuildFailed> build_runtime(const LibraryBuildRequest& request,
                                                               const HostCompiler& compiler,
                                                               const std::filesystem::path& folder,
                                                               const std::filesystem::path& object);

/// Everything that the library depends on, in one text, with the contents of the candidate's own headers: for the key
/// of a cache.
std::string library_identity(const LibraryBuildRequest& request, const HostCompiler& compiler);

/// Compiles the candidate in `folder`, which gets the sources, and links it to `runtime`, the object file of
/// build_runtime(). Returns the compiler's output.
std::variant<std::string, backends::BuildFailed> build_library(const LibraryBuildRequest& request,
                                                               const HostCompiler& compiler,
                                                               const std::filesystem::path& runtime,
                                                               const std::filesystem::path& folder,
                                                               const std::filesystem::path& library);

/// Compiles the kernels of a CUDA file with nvcc and these arguments, for example of nvrtc_arguments(). `folder` is for
/// temporary files. Returns the PTX.
std::variant<std::string, backends::BuildFailed> compile_to_ptx(const HostCompiler& nvcc,
                                                                std::vector<std::string> arguments,
                                                                const std::filesystem::path& file,
                                                                const std::filesystem::path& folder);

}  // namespace assay::candidate
