// One row of a dataset: a kernel in Python, its translation for each device, and the evidence that they agree. Start
// here; schemas/dataset_row.schema.json describes the line of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/records/record.hpp"

namespace assay::dataset {

/// One parameter of the kernel, as the Python source declares it.
struct Parameter {
  std::string name;
  std::string type;    ///< in the text form of the IR: "array<f32,2>", "vec<f32,3>"
  int rank = 0;        ///< rank of an array; 0 for a value
  std::string intent;  ///< "in", "out" (written, never read), "inout", or "unused"
  bool differentiable = false;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// How to launch the kernel.
struct LaunchShape {
  int rank = 1;                         ///< number of dimensions
  std::vector<std::string> conditions;  ///< preconditions in comments above the kernel: "domain: 0 <= n <= 12"
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// The compiler of a device.
struct DeviceCompiler {
  std::string device;
  std::string version;
  std::string sha256;  ///< of the program or library; empty if it cannot be read
  friend bool operator==(const DeviceCompiler&, const DeviceCompiler&) = default;
};

struct Metadata {
  std::string generator = "assay";
  std::string generator_version;    ///< of Assay
  int kernels_version = 0;          ///< of the generators, part of a random kernel's name
  std::string name;                 ///< "loop/r1_42"; the generator can make the kernel from it
  std::string seed;                 ///< seed of the inputs that the kernel was judged on
  std::string category;             ///< the family; kept under this name for older readers
  std::vector<std::string> device;  ///< devices requested to verify it
  std::vector<std::string> flags;   ///< numeric modes: "cpu/strict", "ptx/default"
  std::string effort;               ///< "quick", "standard", "thorough", or "none"
  std::vector<DeviceCompiler> toolchain;
  std::string licence;
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// The result of judging one pass on one device.
struct Evidence {
  std::string device;
  std::string pass;     ///< "forward", "backward"
  std::string mode;     ///< "strict", "default"; empty if nothing ran
  std::string verdict;  ///< an outcome from harness/records/outcome.hpp
  std::string reason;   ///< why it was not run; else empty
  std::optional<double> rho_max;
  std::int64_t values_compared = 0;
  std::int64_t input_sets = 0;
  std::vector<std::int64_t> sizes;              ///< numbers of threads of the launches
  std::optional<double> finite_difference_rho;  ///< maximum of |difference| / tolerance; backward only
  std::string determinism;                      ///< "bitwise", "order_dependent" (atomics on floats), or "not_tested"
  std::vector<std::string> memory_checks;
  std::int64_t controls_rejected = 0;
  harness::InconclusiveCounts inconclusive;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Row {
  std::string id;  ///< SHA-256 of the canonical IR
  std::string family;
  std::string kernel_name;
  std::string python_source;
  std::string cpu_forward;   ///< only the entry point
  std::string cpu_backward;  ///< empty, like cuda_backward, if the kernel has no derivative
  std::string cuda_forward;
  std::string cuda_backward;
  std::string cpu_source;   ///< standalone .cpp
  std::string cuda_source;  ///< standalone .cu
  std::string ptx;          ///< empty: not stored
  std::vector<Parameter> signature;
  LaunchShape launch;
  Metadata metadata;
  std::vector<Evidence> evidence;
  friend bool operator==(const Row&, const Row&) = default;
};

/// A text member of a row, by name.
struct TextField {
  std::string_view name;
  std::string Row::*member;
  bool is_optional;           ///< an empty text is written as null
  std::string_view old_name;  ///< name in the older layout; empty: the same
};
inline constexpr TextField kTextFields[] = {
    {"python_source", &Row::python_source, false, ""},
    {"cpu_forward", &Row::cpu_forward, false, "cpp_forward"},
    {"cpu_backward", &Row::cpu_backward, true, "cpp_backward"},
    {"cuda_forward", &Row::cuda_forward, false, ""},
    {"cuda_backward", &Row::cuda_backward, true, ""},
    {"cpu_source", &Row::cpu_source, false, ""},
    {"cuda_source", &Row::cuda_source, false, ""},
    {"ptx", &Row::ptx, true, ""},
};

/// One line of JSON without a newline; the same row gives the same bytes.
std::string to_line(const Row& row);

/// The inverse of to_line. The document must match the schema.
Row row_from(const nlohmann::json& line);

/// Single members of a line, for comparisons and messages.
std::string signature_text(const Row& row);
std::string launch_text(const Row& row);
std::string evidence_text(const Evidence& evidence);

}  // namespace assay::dataset
