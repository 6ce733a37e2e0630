// One row of a dataset: a kernel in Python, its translation for each device, and the evidence that they agree. Start
// here; schemas/dataset_row.schema.json describes the line of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/dataset/description.hpp"
#include "harness/dataset/difficulty.hpp"
#include "harness/live/kernel_origin.hpp"
#include "harness/records/record.hpp"

namespace assay::dataset {

/// Family of the kernels from users' files.
inline constexpr std::string_view kUserFamily = "user";

/// One parameter of the kernel, as the Python source declares it.
struct KernelParameter {
  std::string name;                ///< name of the parameter
  std::string type;                ///< type in the text form of the IR: "array<f32,2>", "vec<f32,3>"
  int rank = 0;                    ///< number of dimensions of an array; 0 for a value
  std::string intent;              ///< how the kernel uses it: "in", "out" (written, never read), "inout", or "unused"
  bool is_differentiable = false;  ///< whether it has a gradient
  friend bool operator==(const KernelParameter&, const KernelParameter&) = default;
};

/// How to launch the kernel.
struct LaunchShape {
  int rank = 1;                            ///< number of launch dimensions
  std::vector<std::string> preconditions;  ///< preconditions in comments above the kernel: "domain: 0 <= n <= 12"
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// The compiler of a device.
struct DeviceCompiler {
  std::string device;   ///< name of the device
  std::string version;  ///< name and version of the compiler
  std::string sha256;   ///< hash of the compiler's program or library; empty if it cannot be read
  friend bool operator==(const DeviceCompiler&, const DeviceCompiler&) = default;
};

/// How a row was made and verified.
struct RowMetadata {
  std::string generator = "assay";    ///< name of the program that made the row
  std::string generator_version;      ///< version of Assay
  std::string emitter = "assay";      ///< code generator of the C++ and CUDA C++: "assay" or "warp"
  std::string emitter_version;        ///< version of the emitter
  int kernel_generators_version = 0;  ///< version of the random kernel generators, part of a random kernel's name
  std::string name;                   ///< name of the kernel: "loop/r1_42"; the generator can make the kernel from it
  std::string seed;                   ///< seed of the inputs that the kernel was judged on
  std::string category;               ///< the family; kept under this name for older readers
  std::vector<std::string> device;    ///< names of the devices requested to verify the row
  /// Numeric modes requested to verify the row: "cpu/strict", "ptx/default".
  std::vector<std::string> numeric_modes;
  std::string judging_effort;  ///< how thoroughly the row was judged: "quick", "standard", "thorough" or "none"
  std::vector<DeviceCompiler> toolchain;  ///< the compilers of the devices in `device`
  std::string license;                    ///< license of the row
  friend bool operator==(const RowMetadata&, const RowMetadata&) = default;
};

/// The metadata as the text of a JSON object.
std::string to_json_text(const RowMetadata& metadata);

/// The comparisons of one named check, such as "f64_promotion" or "native_precision".
struct CheckEvidence {
  std::string name;                  ///< name of the check (docs/design/numerics.md)
  std::int64_t compared_values = 0;  ///< number of values compared
  std::optional<double> rho_max;     ///< greatest rho of these values
  friend bool operator==(const CheckEvidence&, const CheckEvidence&) = default;
};

/// The result of judging one pass on one device.
struct PassEvidence {
  std::string device;                       ///< name of the device that ran the kernel
  std::string pass;                         ///< "forward" or "backward"
  std::string mode;                         ///< numeric mode: "strict", "default"; empty if nothing ran
  std::string verdict;                      ///< outcome of the case, as text (harness/records/outcome.hpp)
  std::string reason;                       ///< why the pass was not run; empty if it was run
  std::optional<double> rho_max;            ///< greatest error divided by its bound; empty if nothing was compared
  std::int64_t values_compared = 0;         ///< number of scalars compared with the oracle
  std::int64_t input_sets = 0;              ///< number of input sets on which the kernel was judged
  std::vector<std::int64_t> thread_counts;  ///< thread counts of the launches that completed
  /// One element for each named check that ran; empty in rows of schema 1.2 and older.
  std::vector<CheckEvidence> checks;
  std::optional<double> finite_difference_rho;  ///< maximum of |difference| / tolerance; only for the backward pass
  std::string determinism_result;               ///< "bitwise", "order_dependent" (atomics on floats), or "not_tested"
  std::vector<std::string> memory_checks;       ///< names of the memory checks that ran
  std::int64_t rejected_negative_controls = 0;  ///< number of negative controls that the comparator rejected
  harness::InconclusiveCounts inconclusive;     ///< checks without a verdict, by cause
  friend bool operator==(const PassEvidence&, const PassEvidence&) = default;
};

/// One row of a dataset.
struct DatasetRow {
  std::string id;                          ///< SHA-256 of the canonical IR
  std::string family;                      ///< family of the kernel: "loop", or "user"
  std::string kernel_name;                 ///< name of the kernel in its Python source
  std::string python_source;               ///< the kernel in Warp Python
  std::string cpu_forward;                 ///< entry point of the forward pass in C++, without the rest of the file
  std::string cpu_backward;                ///< entry point of the backward pass in C++; empty without a derivative
  std::string cuda_forward;                ///< entry point of the forward pass in CUDA C++
  std::string cuda_backward;               ///< entry point of the backward pass in CUDA C++; empty without a derivative
  std::string cpu_source;                  ///< complete C++ file with both passes
  std::string cuda_source;                 ///< complete CUDA C++ file with both passes
  std::string ptx;                         ///< PTX of the CUDA source; empty: not stored
  std::vector<KernelParameter> signature;  ///< the kernel's parameters, in order
  LaunchShape launch;                      ///< how to launch the kernel
  KernelDescription description;           ///< empty in rows of schema 1.2 and older
  KernelDifficulty difficulty;             ///< empty in rows of schema 1.2 and older
  std::optional<live::KernelOrigin> origin;  ///< for a kernel of a Python package: where it comes from
  RowMetadata metadata;                      ///< how the row was made and verified
  std::vector<PassEvidence> evidence;        ///< results by device, pass and mode; see evidence.hpp for the order
  friend bool operator==(const DatasetRow&, const DatasetRow&) = default;
};

/// A text member of a row, by name.
struct RowTextField {
  std::string_view name;               ///< name of the member in the line of JSON
  std::string DatasetRow::*member;     ///< the member of DatasetRow
  bool is_optional;                    ///< whether an empty text is written as null
  std::string_view older_layout_name;  ///< name in the older layout; empty: the same name
};
inline constexpr RowTextField kRowTextFields[] = {
    {"python_source", &DatasetRow::python_source, false, ""},
    {"cpu_forward", &DatasetRow::cpu_forward, false, "cpp_forward"},
    {"cpu_backward", &DatasetRow::cpu_backward, true, "cpp_backward"},
    {"cuda_forward", &DatasetRow::cuda_forward, false, ""},
    {"cuda_backward", &DatasetRow::cuda_backward, true, ""},
    {"cpu_source", &DatasetRow::cpu_source, false, ""},
    {"cuda_source", &DatasetRow::cuda_source, false, ""},
    {"ptx", &DatasetRow::ptx, true, ""},
};

/// One line of JSON without a newline; the same row gives the same bytes.
std::string to_line(const DatasetRow& row);

/// The inverse of to_line. The document must match the schema.
DatasetRow row_from(const nlohmann::json& line);

/// The origin as the text of a JSON object, and its inverse. nullopt is null.
std::string to_json_text(const std::optional<live::KernelOrigin>& origin);
std::optional<live::KernelOrigin> origin_from(const nlohmann::json& value);

/// Single members of a line, for comparisons and messages.
std::string signature_text(const DatasetRow& row);
std::string launch_text(const DatasetRow& row);
std::string difficulty_text(const DatasetRow& row);
std::string evidence_text(const PassEvidence& evidence);

}  // namespace assay::dataset
