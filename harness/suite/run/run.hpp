// Runs cases: adjoint, print, build, judge, record. Start reading here.
//
// Kernels go through in batches, several batches at once; each batch is built together, then judged kernel by kernel in
// a session of its own. One record line is written per case as soon as it is known.
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
#include "harness/judge/policy.hpp"
#include "harness/measure/measure.hpp"
#include "harness/records/record.hpp"
#include "harness/records/record_writer.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::harness {

class SharedTestPlans;
class VerdictCache;

/// One kernel to judge, wherever it came from.
struct KernelSource {
  std::string family;  ///< "loop", or "user" for a file's kernels
  std::string kernel;  ///< its part of the case's name: "dynamic_product", "r1_42"
  std::shared_ptr<const ir::Module> module;
  std::size_t kernel_index = 0;  ///< in module->kernels
  std::string file;              ///< for messages and the record; empty for a random kernel
  std::string python;            ///< its source text
  std::string selector = {};     ///< what the command line calls it: "loop/r1_42", "wave.py:step"
  /// Why the reader could not take this kernel; `module` is then null and its cases end as unsupported(reader).
  std::optional<Error> unreadable = std::nullopt;
  double read_ms = 0;
};

/// The scalar types of a kernel's parameters in a case's name: "f32", "f32_i32"; floats first, "none" without any.
std::string types_of(const ir::Module& module, const ir::Function& kernel);

/// Prints a kernel for a device; the composition root binds it to backends/source.
using Printer =
    std::function<Result<backends::EmittedKernel>(const ir::Module& module, const ir::Function& forward,
                                                  const ir::Function* backward, backends::SourceTarget target)>;

/// Prints a kernel for both targets: what Printer gives for each, faster.
using PairPrinter = std::function<Result<backends::EmittedPair>(const ir::Module& module, const ir::Function& forward,
                                                                const ir::Function* backward)>;

/// A numeric mode that cases name: its flags, and the level of optimisation.
struct Mode {
  std::string name;  ///< "" for the device's own default: strict flags
  backends::BuildFlags flags = backends::BuildFlags::strict();
};

struct RunOptions {
  bool forward = true;
  bool backward = true;
  int jobs = 0;  ///< batches at once; 0: one per core
  std::uint64_t seed = 1;
  Policy policy;
  std::size_t batch = 96;  ///< kernels in a batch
  int repeat = 1;          ///< how often each case is judged, with the same inputs; see repeat.hpp
  Mode mode;
  std::chrono::milliseconds time_limit{2000};  ///< of processor time, for one launch
  std::string reproduce_prefix = "assay run";  ///< what the reproducing command begins with
  bool keep_sources = false;                   ///< of short kernels that pass, too, in the record of their first case
  /// Called, from any thread, with the launch on which a case failed, before its record is taken.
  std::function<void(const CaseRecord&, const Counterexample&)> on_counterexample = nullptr;
  /// Measures each kernel whose cases passed; its results go into their records. Called from any thread.
  std::function<PassMeasurements(const Subject&, const backends::BuiltKernel&)> measure = nullptr;
  /// Another device, whose results each kernel's must agree with; null: none. One that cannot build a kernel has no
  /// say.
  backends::Device* peer = nullptr;
  /// What earlier runs proved is taken from here, and what this one proves is put here; null: all is judged anew.
  VerdictCache* verdicts = nullptr;
  /// Where exams are that other groups of the run have drawn; null: each kernel's is drawn. Set by run_cases.
  SharedTestPlans* test_plans = nullptr;
};

/// Kernels that are judged in the same way.
struct Group {
  RunOptions options;
  std::vector<KernelSource> sources;
};

/// Every case that the sources make on the device, in order: the plan.
std::vector<std::string> plan_cases(const std::vector<KernelSource>& sources, const backends::Device& device,
                                    const RunOptions& options);

/// What a run prints for the device's compiler, in the order of the sources; nothing of kernels that cannot be printed.
std::vector<backends::EmittedKernel> emitted_kernels(const std::vector<KernelSource>& sources, const Printer& printer,
                                                     backends::SourceTarget target, const RunOptions& options);

/// What each planned case is expected to take, by name and against the others.
std::unordered_map<std::string, double> expected_costs(const std::vector<Group>& groups,
                                                       const backends::Device& device);

/// Called with each record before it is written, from any thread but never two at once.
using Progress = std::function<void(const CaseRecord&)>;

/// Judges all groups on the device and appends one record per planned case, but for those that the writer has already:
/// kernels of which all cases are recorded are left out. The groups' options may differ in modes and passes alone.
/// Fails only if the records cannot be written; what goes wrong with a kernel is in its records.
Result<OutcomeCounts> run_cases(const std::vector<Group>& groups, backends::Device& device, const Printer& printer,
                                RecordWriter& writer, const Progress& progress = nullptr);

}  // namespace assay::harness
