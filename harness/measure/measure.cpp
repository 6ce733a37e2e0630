#include "harness/measure/measure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/judge/launch.hpp"

namespace assay::harness {

namespace {

using backends::Measurement;
using backends::Pass;

constexpr auto kTimeLimit = std::chrono::seconds{60};
/// Threads of a launch that the observer executes, a thousand times slower than a GPU.
constexpr std::int64_t kObservedThreads = 4096;
/// Smaller sizes for kernels that do not support the requested one.
constexpr std::array<std::int32_t, 3> kSmallerSizes{1 << 16, 1 << 12, 17};
constexpr std::byte kInitialByte{0};

// ------------------------------------------------------------------------------------------------------- ceilings

constexpr std::int64_t kCeilingElements = std::int64_t{1} << 26;  ///< of the array that is copied: past any cache
constexpr std::int64_t kMostLoops = 1 << 20;  ///< threads of the loop kernel: enough to fill any GPU
/// Chains of dependent operations in each thread, enough to hide their latency, and how long they are.
constexpr int kChains = 8;
constexpr int kSteps = 512;

backends::EmittedKernel ceiling_kernel() {
  return {.name = "ceiling",
          .helpers = {},
          .body = fmt::format(
              "#ifndef ASSAY_REAL\n#define ASSAY_REAL float\n#endif\nusing real = ASSAY_REAL;\n"
              "struct Floats {{ float* data; int shape[1]; long long strides[1]; }};\n"
              "extern \"C\" __global__ void ceiling_forward(long long count, Floats x) {{\n"
              "  const long long step = (long long)gridDim.x * blockDim.x;\n"
              "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {{\n"
              "    float chain[{0}];\n"
              "    for (int c = 0; c < {0}; ++c) chain[c] = x.data[i] + c;\n"
              "#pragma unroll 16\n"
              "    for (int k = 0; k < {1}; ++k) {{\n"
              "#pragma unroll\n"
              "      for (int c = 0; c < {0}; ++c) chain[c] = __fmaf_rn(chain[c], 0.999f, 0.001f);\n"
              "    }}\n"
              "    float sum = 0;\n"
              "    for (int c = 0; c < {0}; ++c) sum += chain[c];\n"
              "    x.data[i] = sum;\n"
              "  }}\n}}\n",
              kChains, kSteps),
          .entry_points = {{.pass = Pass::kForward, .symbol = "ceiling_forward", .parameter_types = {"Floats"}}}};
}

// ------------------------------------------------------------------------------------------------------- launches

/// A launch of the requested size, or of the next smaller one that the kernel supports.
std::variant<ir::Launch, InputDrawFailure> judges_large_launch(const KernelUnderTest& subject,
                                                               const MeasureOptions& options) {
  auto space = InputSpace::make(subject.module, subject.kernel, subject.oracle);
  if (!space.ok()) return InputDrawFailure{.message = space.error().text(), .finding = {}};
  // A small launch first, to learn the constraints of the domain cheaply.
  std::variant<ir::Launch, InputDrawFailure> small = space->draw({.seed = options.seed});
  if (std::holds_alternative<InputDrawFailure>(small)) return small;
  std::vector<std::int32_t> sizes{options.threads};
  std::ranges::copy_if(kSmallerSizes, std::back_inserter(sizes), [&](std::int32_t s) { return s < options.threads; });
  for (const std::int32_t size : sizes) {
    const auto most = static_cast<std::int64_t>(options.memory_limit_bytes / sizeof(float) / 8);
    auto drawn = space->draw({.seed = options.seed, .size = size, .max_elements = most});
    if (std::holds_alternative<ir::Launch>(drawn)) return drawn;
  }
  return small;
}

/// Gradients with all cotangents set.
std::vector<ir::Argument> seeded_gradients(const KernelUnderTest& subject, const ir::Launch& launch) {
  InputSet set;
  set.launch_by_precision[Precision::kNative] = launch;
  set.cotangents.resize(launch.arguments.size());
  set.initial_gradients.resize(launch.arguments.size());
  for (std::size_t p = 0; p < set.cotangents.size(); ++p) {
    if (!subject.writes(p)) continue;
    set.cotangents[p].resize(component_count(subject, launch.arguments[p]));
    for (std::size_t i = 0; i < set.cotangents[p].size(); ++i)
      set.cotangents[p][i] = dense_value(i, p);
  }
  return make_gradient_arguments(subject, set, Precision::kNative, InitialGradient::kZero, 1);
}

std::vector<ArrayRole> roles_of(const KernelUnderTest& subject, Pass pass) {
  std::vector<ArrayRole> roles;
  for (int p = 0; p < subject.kernel.parameter_count; ++p)
    roles.push_back({.name = subject.kernel.var(p).name});
  if (pass == Pass::kForward) return roles;
  for (const transforms::GradientParameter& gradient : subject.adjoint->gradient_parameters)
    roles.push_back({.name = subject.adjoint->module.kernels[0].var(gradient.gradient_parameter).name});
  return roles;
}

/// The launch of one pass of a kernel.
struct Plan {
  const KernelUnderTest& subject;
  const backends::BuiltKernel& kernel;
  Pass pass;
  ir::Launch launch;
  std::vector<ir::Argument> gradients;
};

Result<KernelLauncher> place(backends::DeviceSession& session, const Plan& plan) {
  session.reset();
  return KernelLauncher::place(session, plan.subject.module, plan.kernel, plan.pass, backends::Precision::kNative,
                               borrow_launch(plan.launch), plan.gradients, roles_of(plan.subject, plan.pass),
                               kInitialByte);
}

/// Prepares the launch of the backward pass: runs the forward pass to fill
/// AdjointModule::parameters_bound_to_final_content.
Result<void> run_forward(backends::DeviceSession& session, Plan& plan) {
  const Plan forward{plan.subject, plan.kernel, Pass::kForward, plan.launch, {}};
  Result<KernelLauncher> placed = place(session, forward);
  if (!placed.ok()) return placed.error();
  backends::LaunchRequest request = placed->request();
  request.time_limit = kTimeLimit;
  const backends::RunOutcome outcome = session.run({&request, 1}).front();
  if (!std::holds_alternative<backends::Completed>(outcome)) return Error{backends::describe(outcome)};
  for (const ir::VarId array : plan.subject.adjoint->parameters_bound_to_final_content) {
    const auto bytes = placed->bytes(session, static_cast<std::size_t>(array));
    plan.launch.arguments[static_cast<std::size_t>(array)].bytes.assign(bytes.begin(), bytes.end());
  }
  return {};
}

/// Bytes of each array that is read, and of each that is written, once.
double bytes_to_move(const Plan& plan, const KernelLauncher& launcher) {
  const bool forward = plan.pass == Pass::kForward;
  const ir::Module& module = forward ? plan.subject.module : plan.subject.adjoint->module;
  const ir::ParameterUses uses =
      ir::parameter_use(module, forward ? plan.subject.kernel : plan.subject.adjoint->module.kernels[0]);
  double bytes = 0;
  for (std::size_t a = 0; a < launcher.arrays().size(); ++a) {
    const PlacedArray& array = launcher.arrays()[a];
    if (!array.is_in_memory) continue;
    const int times = (uses[a].read || uses[a].is_atomically_updated ? 1 : 0) + (uses[a].changed() ? 1 : 0);
    bytes += times * static_cast<double>(array.initial_content->bytes.size());
  }
  return bytes;
}

/// Adds the observer's counts for some threads, scaled to all; nothing if it does not complete.
void add_counts(backends::DeviceSession& session, const Plan& plan, Measurement& measurement) {
  Result<KernelLauncher> placed = place(session, plan);
  if (!placed.ok()) return;
  backends::LaunchRequest request = placed->request();
  request.threads = std::min(request.threads, kObservedThreads);
  request.time_limit = kTimeLimit;
  request.profile = true;
  const backends::RunOutcome outcome = session.run({&request, 1}).front();
  const auto* const completed = std::get_if<backends::Completed>(&outcome);
  if (completed == nullptr || !completed->profile || request.threads == 0) return;
  const double share = static_cast<double>(measurement.threads) / static_cast<double>(request.threads);
  measurement.measures["operations"] = completed->profile->measures.at("flops") * share;
  measurement.measures["requested_bytes"] = completed->profile->measures.at("global_bytes") * share;
}

void add_rates(const PeakRates& peak_rates, Measurement& measurement) {
  std::map<std::string, double>& measures = measurement.measures;
  const double seconds = measures.at("time_ns") * 1e-9;
  measures["ceiling_bytes_per_second"] = peak_rates.bytes_per_second;
  measures["ceiling_operations_per_second"] = peak_rates.operations_per_second;
  measures["bytes_per_second"] = measures.at("bytes") / seconds;
  measures["of_copy"] = measures.at("bytes_per_second") / peak_rates.bytes_per_second;
  if (!measures.contains("operations")) return;
  measures["operations_per_second"] = measures.at("operations") / seconds;
  measures["of_fma"] = measures.at("operations_per_second") / peak_rates.operations_per_second;
}

Measurement unmeasured(std::string why) { return {.target = {}, .remark = "not measured: " + std::move(why)}; }

/// The measurement of a launch that ran, or why there is none.
Measurement measurement_of(backends::RunOutcome outcome) {
  auto* const completed = std::get_if<backends::Completed>(&outcome);
  if (completed == nullptr) return unmeasured(backends::describe(outcome));
  if (!completed->measurement) return unmeasured("the device does not support timing of launches");
  return *std::move(completed->measurement);
}

}  // namespace

Result<Measurer> Measurer::make(backends::Device& device, backends::Device* observer, const MeasureOptions& options) {
  Measurer measurer;
  measurer.options_ = options;
  auto session = device.open({.buffer_bytes = options.memory_limit_bytes});
  if (!session.ok()) return session.error();
  measurer.session_ = session.take();
  if (observer != nullptr) {
    auto observing = observer->open({.buffer_bytes = options.memory_limit_bytes});
    if (!observing.ok()) return observing.error();
    measurer.operation_counting_session_ = observing.take();
  }
  if (const Result<void> measured = measurer.measure_peak_rates(device); !measured.ok()) return measured.error();
  return measurer;
}

Result<void> Measurer::measure_peak_rates(backends::Device& device) {
  const backends::EmittedKernel emitted = ceiling_kernel();
  const backends::BuildOutcome built = device.build({&emitted, 1}, backends::BuildFlags::strict()).front();
  if (const auto* failed = std::get_if<backends::BuildFailed>(&built)) return Error{failed->log, "ceilings"};
  const auto most = static_cast<std::int64_t>(options_.memory_limit_bytes / sizeof(float) / 8);
  const std::int64_t elements = std::min(kCeilingElements, most);
  const Result<backends::BufferId> array = session_->allocate(static_cast<std::size_t>(elements) * sizeof(float));
  if (!array.ok()) return array.error();
  const std::array shape{static_cast<std::int32_t>(elements)};
  const std::array strides{static_cast<std::int64_t>(sizeof(float))};
  const backends::LaunchRequest request{
      .kernel = &std::get<backends::BuiltKernel>(built),
      .threads = std::min<std::int64_t>({elements, kMostLoops, options_.threads}),
      .arguments = {backends::KernelArgument::array(backends::BufferAddress{*array, 0}, shape, strides)},
      .time_limit = kTimeLimit,
      .sample_count = options_.timed_runs_per_pass};
  const Measurement measured = measurement_of(session_->run({&request, 1}).front());
  if (measured.measures.empty()) return Error{measured.remark, "ceilings"};
  peak_rates_.bytes_per_second = measured.measures.at("copy_bytes_per_second");
  peak_rates_.operations_per_second =
      2.0 * kChains * kSteps * static_cast<double>(request.threads) / (measured.measures.at("time_ns") * 1e-9);
  return {};
}

PassMeasurements Measurer::measure(const KernelUnderTest& subject, const backends::BuiltKernel& kernel, bool forward,
                                   bool backward) {
  PassMeasurements measured;
  auto launch = judges_large_launch(subject, options_);
  const auto* const none = std::get_if<InputDrawFailure>(&launch);
  const auto measure_pass = [&](Plan plan) -> Measurement {
    if (plan.pass == Pass::kBackward && !subject.adjoint->parameters_bound_to_final_content.empty()) {
      if (const Result<void> ran = run_forward(*session_, plan); !ran.ok()) return unmeasured(ran.error().text());
    }
    Result<KernelLauncher> placed = place(*session_, plan);
    if (!placed.ok()) return unmeasured(placed.error().text());
    backends::LaunchRequest request = placed->request();
    request.time_limit = kTimeLimit;
    request.sample_count = options_.timed_runs_per_pass;
    Measurement measurement = measurement_of(session_->run({&request, 1}).front());
    if (measurement.measures.empty()) return measurement;
    measurement.measures["bytes"] = bytes_to_move(plan, *placed);
    if (operation_counting_session_ != nullptr) add_counts(*operation_counting_session_, plan, measurement);
    add_rates(peak_rates_, measurement);
    return measurement;
  };
  if (forward) {
    measured.forward = none != nullptr
                           ? unmeasured(none->message)
                           : measure_pass({subject, kernel, Pass::kForward, std::get<ir::Launch>(launch), {}});
  }
  if (backward && subject.adjoint != nullptr) {
    measured.backward = none != nullptr ? unmeasured(none->message)
                                        : measure_pass({subject, kernel, Pass::kBackward, std::get<ir::Launch>(launch),
                                                        seeded_gradients(subject, std::get<ir::Launch>(launch))});
  }
  if (measured.forward && measured.backward && !measured.forward->measures.empty() &&
      !measured.backward->measures.empty()) {
    measured.backward->measures["backward_over_forward"] =
        measured.backward->measures.at("time_ns") / measured.forward->measures.at("time_ns");
  }
  return measured;
}

}  // namespace assay::harness
