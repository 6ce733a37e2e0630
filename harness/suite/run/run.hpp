// Runs cases: differentiate, print, build, judge, record. Start reading here.
//
// Kernels are processed in batches, several at once. Each batch is built together, then judged kernel by kernel in its
// own session. Each case's record line is written as soon as the case is decided.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/counterexample.hpp"
#include "harness/judge/fixed_extents.hpp"
#include "harness/judge/policy.hpp"
#include "harness/judge/recorded_launch.hpp"
#include "harness/measure/measure.hpp"
#include "harness/records/record.hpp"
#include "harness/records/record_writer.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::harness {

class SharedTestPlans;
class VerdictCache;

/// One kernel to judge, from any source.
struct KernelSource {
  std::string family;                        ///< family of the kernel: "loop", or "user" for a file's kernels
  std::string kernel;                        ///< name of the kernel in case names: "dynamic_product", "r1_42"
  std::shared_ptr<const ir::Module> module;  ///< module of the kernel; null if it could not be parsed
  std::size_t kernel_index = 0;              ///< index in module->kernels
  std::string file;           ///< path of the user's file, for messages and the record; empty for a random kernel
  std::string python;         ///< source text of the kernel
  std::string selector = {};  ///< selects it on the command line: "loop/r1_42", "wave.py:step"
  /// Why `python` is not a file that the user wrote; empty if it is. The file may be followed by a wp.overload
  /// statement.
  std::string own_text_obstacle = "the kernel is generated";
  /// Why the frontend rejects this kernel. Then `module` is null and the cases are unsupported(reader).
  std::optional<Error> parse_error = std::nullopt;
  double parse_ms = 0;  ///< time of parsing, in milliseconds
  /// The recorded launches that are the kernel's inputs; null: inputs are drawn.
  std::shared_ptr<const std::vector<RecordedLaunch>> recorded_launches = nullptr;
  /// Why none of the kernel's recorded launches can be judged; its cases are then unsupported(launch). Empty if one can
  /// be judged or none was recorded.
  std::string unsupported_launch_reason = {};
};

/// The scalar types of a kernel's parameters in a case's name: "f32", "f32_i32"; floats first, "none" without any.
std::string types_of(const ir::Module& module, const ir::Function& kernel);

/// Prints a kernel for a device; bound to backends/source by the caller.
using Printer =
    std::function<Result<backends::EmittedKernel>(const ir::Module& module, const ir::Function& forward,
                                                  const ir::Function* backward, backends::SourceTarget target)>;

/// Prints a kernel for both targets. The result is that of Printer for each, but faster.
using PairPrinter = std::function<Result<backends::EmittedKernelPair>(
    const ir::Module& module, const ir::Function& forward, const ir::Function* backward)>;

/// A numeric mode: its name in case names, its build flags with the optimization level, and its compiler.
struct Mode {
  std::string name;  ///< component of case names; empty for strict flags, the default
  backends::BuildFlags flags = backends::BuildFlags::strict();  ///< build flags, with the optimization level
  std::string build = {};  ///< the name of the build among several compilers or architectures; empty: the only one
};

/// How the kernels of a group are judged.
struct RunOptions {
  bool forward = true;          ///< whether to judge the forward pass
  bool backward = true;         ///< whether to judge the backward pass
  int jobs = 0;                 ///< number of batches processed concurrently; 0: one per core
  std::uint64_t seed = 1;       ///< seed of the inputs
  JudgingPolicy policy;         ///< how thoroughly kernels are judged
  std::size_t batch_size = 96;  ///< maximum number of kernels in a batch
  int repetition_count = 1;     ///< number of times that each case is judged, with the same inputs; see repeat.hpp
  Mode mode;                    ///< numeric mode in which the kernels are judged
  std::chrono::milliseconds time_limit{2000};  ///< limit on the processor time of one launch
  FixedExtents fixed_extents = {};             ///< extents of all launches; empty: chosen by the judge
  bool trusts_custom_gradients = false;        ///< whether a custom gradient may differ from the derivative
  /// Whether a kernel whose result depends on the order of the threads may be judged with the threads in the order of
  /// their numbers, where the device can run them so.
  bool may_fix_thread_order = true;
  /// Whether finite differences decide which is incorrect if a gradient differs from the oracle's. For devices that run
  /// the code of another generator they always decide.
  bool decides_gradients_by_finite_differences = false;
  std::string reproduce_command_prefix = "assay run";  ///< start of the command that reproduces a case
  bool reproduce_command_has_device = true;            ///< whether the command has the options --device and --pass
  /// Whether the first record of a short passing kernel also contains its sources.
  bool keeps_source_texts = false;
  /// Called from any thread with the launch on which a case failed, before its record is written.
  std::function<void(const CaseRecord&, const Counterexample&)> on_counterexample = nullptr;
  /// Called from any thread with the record of a case that did not pass, before it is written; may add to the record.
  std::function<void(CaseRecord&, const KernelSource&, const RunOptions&)> examine_failure = nullptr;
  /// Measures each kernel whose cases passed; the results become part of their records. Called from any thread.
  std::function<PassMeasurements(const KernelUnderTest&, const backends::BuiltKernel&)> measure = nullptr;
  /// Another device whose results must agree; null: none. Kernels that it cannot build are not compared.
  backends::Device* cross_check_device = nullptr;
  /// Verdicts of earlier runs; this run reads and extends them. Null: every kernel is judged.
  VerdictCache* verdict_cache = nullptr;
  /// Test plans that the groups of the run share; null: each group draws its own. Set by run_cases.
  SharedTestPlans* test_plans = nullptr;
};

/// Kernels that are judged with the same options.
struct KernelGroup {
  RunOptions options;                 ///< how the kernels are judged
  std::vector<KernelSource> sources;  ///< the kernels
  /// The device that builds and runs the kernels; null: the device of the run.
  backends::Device* device = nullptr;
};

/// The plan: the names of all cases of the sources on the device, in order.
std::vector<std::string> plan_cases(const std::vector<KernelSource>& sources, const backends::Device& device,
                                    const RunOptions& options);

/// The kernels that a run prints for the device's compiler, in the order of the sources. Kernels that cannot be printed
/// are omitted.
std::vector<backends::EmittedKernel> emit_kernels(const std::vector<KernelSource>& sources, const Printer& printer,
                                                  backends::SourceTarget target, const RunOptions& options);

/// The expected cost of each planned case, by name, relative to the others.
std::unordered_map<std::string, double> estimate_case_costs(const std::vector<KernelGroup>& groups,
                                                            const backends::Device& device);

/// Called with each record before it is written, from any thread, but never concurrently.
using Progress = std::function<void(const CaseRecord&)>;

/// Judges all groups on their devices and appends one record per planned case. Skips kernels whose cases the writer has
/// already recorded. The groups' options may differ only in modes, passes and caches. Groups of the same kernels share
/// the inputs and the oracle's results, so their devices must compute with the same math library; `device` is that of
/// the groups without a device. Fails only if the records cannot be written; failures of a kernel are in its records.
Result<OutcomeCounts> run_cases(const std::vector<KernelGroup>& groups, backends::Device& device,
                                const Printer& printer, RecordWriter& writer, const Progress& progress = nullptr);

}  // namespace assay::harness
