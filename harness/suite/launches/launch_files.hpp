// Recorded launches: files in a folder (schemas/launch.schema.json), bound to the selected kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/suite/launches/npy.hpp"
#include "harness/suite/select/select.hpp"
#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A scalar of an argument passed by value.
using RecordedScalar = std::variant<double, std::int64_t, std::uint64_t>;

/// An argument of a recorded launch.
struct RecordedArgument {
  std::string name;                                     ///< name of the parameter
  std::string dtype;                                    ///< type as the file states it, for messages
  bool is_array = false;                                ///< whether it is an array; else a value
  std::vector<std::int64_t> shape;                      ///< extents of an array; empty for a value
  std::optional<NpyArray> content;                      ///< elements of an array; empty for an array without elements
  std::vector<std::string> overlapping_argument_names;  ///< names of the other array arguments that overlap it
  /// Name of the first argument that is the same array; empty if no earlier argument is.
  std::string aliased_argument_name;
  std::vector<RecordedScalar> scalars;  ///< scalars of a value, component by component; empty for an array
};

/// The content of one launch file.
struct LaunchFile {
  std::filesystem::path path;                   ///< path of the file
  std::string kernel;                           ///< name of the launched kernel
  std::string source_file;                      ///< name of the file that defines the kernel; empty: any
  std::vector<std::int64_t> launch_dimensions;  ///< extents of the launch, one for each dimension
  std::int32_t block_size = 1;                  ///< number of threads in a block
  std::vector<RecordedArgument> arguments;      ///< arguments of the launch
};

/// All launch files of a folder, in the order of their names. Fails with the file, the position in it and what was
/// expected if the folder has no .json file, or if one is invalid or contradicts itself.
Result<std::vector<LaunchFile>> read_launch_files(const std::filesystem::path& folder);

/// A launch of the kernel, or why Assay cannot judge it.
struct BoundLaunch {
  std::optional<ir::Launch> launch;  ///< the launch; empty if Assay cannot judge it
  std::string unsupported_reason;    ///< why `launch` is empty
};

/// Binds the arguments to the kernel's parameters; arrays become dense. As in Warp, missing extents are 1. A launch is
/// unsupported if it has no threads, if threads get the same index because it has more extents than wp.tid() returns,
/// if the kernel changes an array that shares memory with another one, if a parameter is a struct with arrays, or if
/// the arguments are very large. Fails if an argument does not match its parameter.
Result<BoundLaunch> bind_launch(const LaunchFile& file, const ir::Module& module, const ir::Function& kernel);

/// Gives each selected kernel its recorded launches. Kernels without any and launches of other kernels become notes.
/// If the launches pass one array for several parameters, and the kernel changes it, the kernel is replaced by one with
/// a single parameter for the array. Fails as bind_launch does, and if no file is a launch of a selected kernel.
Result<void> attach_launches(Selection& selection, const std::vector<LaunchFile>& files);

}  // namespace assay::harness
