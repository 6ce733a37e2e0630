// Compiles Triton kernels to PTX in a confined Python process. No GPU is needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// A Python interpreter that can import Triton.
struct TritonInterpreter {
  std::filesystem::path program;  ///< path of the Python program
  std::string version;            ///< version of Triton: "3.9.0"
};

/// The interpreter `named`, else $ASSAY_PYTHON, else the environment that ci/setup-triton creates, else python3. Fails
/// with the interpreter that was tried and how to install Triton if it has no Triton.
Result<TritonInterpreter> find_triton(const std::string& named);

/// A Triton kernel and everything else that determines its compilation.
struct TritonRequest {
  std::filesystem::path file;               ///< file with the kernel
  std::string kernel_name;                  ///< name of the kernel; empty: the only kernel of the file
  std::vector<std::string> argument_types;  ///< Triton's names of the argument types: "*fp32", "i32"
  std::string constexpr_json;               ///< values of the constexpr parameters, as a JSON object
  std::optional<int> warp_count;            ///< number of warps of a block; nullopt: Triton's default
  std::optional<int> stage_count;           ///< number of stages of software pipelines; nullopt: Triton's default
  std::string architecture;                 ///< architecture to compile for: "compute_80"
};

/// The PTX of a Triton kernel, and the launch parameters that Triton chose.
struct TritonCode {
  std::string ptx;                  ///< text of the PTX
  std::string entry_point_name;     ///< name of the kernel in the PTX
  std::uint32_t block_threads = 0;  ///< number of threads of a block
  std::uint32_t scratch_bytes = 0;  ///< size of the scratch memory of a block in global memory, in bytes
  std::uint32_t shared_bytes = 0;   ///< size of the dynamic shared memory of a block in bytes
};

/// Imports the file and compiles the kernel, without fusing multiplications and additions.
std::variant<TritonCode, backends::BuildFailed> compile_triton(const TritonInterpreter& interpreter,
                                                               const TritonRequest& request);

}  // namespace assay::candidate
