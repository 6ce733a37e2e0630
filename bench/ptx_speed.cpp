// The speed of the `ptx` device and the cost of its checks.
//
// Each line is one launch of 10,000 threads on one core with every check and without a profile, like the launches of a
// run. Counters: `minstr_s`, millions of PTX thread-instructions per second; `floor`, its lower limit (0: none);
// `unchecked`, the time of the launch with checks over its time without them, and `ceiling` the upper limit of that
// ratio; `unrounded`, its time with checks and unrounded values over its time with checks; `compile_ms`, the NVRTC time
// for both passes of the kernel in one precision variant, in this run; `run_ms`, the time of the launch.
//
// ptx/shadow writes every word of 64 MiB with every check: `bytes_per_byte` is the additional memory of the process per
// byte written, compared with the same launch without checks.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "backends/ptx/device.hpp"
#include "backends/ptx/parse/module.hpp"
#include "bench/backward_cost.hpp"
#include "bench/median.hpp"
#include "bench/running.hpp"

namespace assay::bench {
namespace {

constexpr std::string_view kStreaming = R"(import warp as wp

@wp.kernel
def streaming(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i] + y[i] * x[i] - 0.5
)";
constexpr std::string_view kPolynomial = R"(import warp as wp

@wp.kernel
def polynomial(x: wp.array(dtype=float), c: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(n):
        s = s * x[i] + c[j]
    out[i] = s
)";
constexpr std::string_view kGather = R"(import warp as wp

@wp.kernel
def gather(x: wp.array(dtype=float), idx: wp.array(dtype=int), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(n):
        k = idx[i + j]
        if k % 2 == 0:
            s += x[k] * x[i]
        else:
            s -= wp.sin(x[k])
    out[i] = s
)";

struct Case {
  std::string_view name;
  std::string_view kernel;
  std::int32_t trips;
  backends::Pass pass;
  double floor;    ///< millions of thread-instructions a second; 0 for none
  double ceiling;  ///< of the checked over the unchecked run
};
constexpr std::int32_t kThreads = 10'000;
constexpr Case kCases[] = {
    {"streaming/forward", kStreaming, 1, backends::Pass::kForward, 500, 2},
    {"streaming/backward", kStreaming, 1, backends::Pass::kBackward, 0, 2},
    {"polynomial/forward", kPolynomial, 16, backends::Pass::kForward, 0, 2},
    {"polynomial/backward", kPolynomial, 16, backends::Pass::kBackward, 0, 2},
    {"gather/forward", kGather, 8, backends::Pass::kForward, 500, 2},
    {"gather/backward", kGather, 8, backends::Pass::kBackward, 300, 2},
};

/// How a launch is interpreted.
enum class Interpretation : std::uint8_t { kChecked, kUnchecked, kCheckedAndUnrounded };

ptx::PtxOptions options_of(Interpretation interpretation) {
  return {.architectures = {"compute_75"},
          .checks = interpretation == Interpretation::kUnchecked ? ptx::EnabledChecks::none() : ptx::EnabledChecks{},
          .computes_unrounded_values = interpretation == Interpretation::kCheckedAndUnrounded,
          .uses_build_cache = false};
}

void execution(benchmark::State& state, const Case& measured) {
  std::vector<TimedKernel> kernels;
  double compile_seconds = 0;
  for (const Interpretation interpretation :
       {Interpretation::kChecked, Interpretation::kUnchecked, Interpretation::kCheckedAndUnrounded}) {
    ptx::PtxDevice device(options_of(interpretation));
    const auto start = std::chrono::steady_clock::now();
    auto kernel = TimedKernel::make(device, measured.kernel, measured.trips, kThreads, kThreads + measured.trips);
    if (!kernel.ok()) return fail(state, kernel.error().text());
    // Both precision variants are compiled; a launch needs one of them.
    compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 2;
    kernels.push_back(kernel.take());
  }
  std::vector<double> seconds[3];
  double instructions = 0;
  for ([[maybe_unused]] auto iteration : state) {
    for (const std::size_t which : {0U, 1U, 2U}) {
      const auto times = kernels[which].run();
      if (!times.ok()) return fail(state, times.error().text());
      const PassTime& time = measured.pass == backends::Pass::kForward ? times->forward : times->backward;
      seconds[which].push_back(time.seconds);
      instructions = time.instructions;
    }
    state.SetIterationTime(seconds[0].back());
  }
  const double checked = median(seconds[0]);
  state.counters["minstr_s"] = instructions / checked / 1e6;
  state.counters["floor"] = measured.floor;
  state.counters["unchecked"] = checked / median(seconds[1]);
  state.counters["ceiling"] = measured.ceiling;
  state.counters["unrounded"] = median(seconds[2]) / checked;
  state.counters["compile_ms"] = compile_seconds * 1e3;
  state.counters["run_ms"] = checked * 1e3;
}

// ------------------------------------------------------------------------------------------------------------- memory

constexpr std::string_view kWritesAll = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry writes_all(.param .u64 words)
{
.reg .b32 %r<4>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [words]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r3; ret;
}
)";
constexpr std::size_t kWatchedBytes = std::size_t{64} << 20U;

/// Resident memory of this process, in bytes.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void shadow(benchmark::State& state) {
  auto module = ptx::parse(std::string(kWritesAll), "writes_all.ptx");
  if (!module.ok()) return fail(state, module.error().text());
  const auto kernel = ptx::lower(std::make_shared<const ptx::Module>(module.take()), "writes_all");
  if (!kernel.ok()) return fail(state, kernel.error().text());
  double grown = 0;
  for ([[maybe_unused]] auto iteration : state) {
    ptx::Machine machine;
    const auto words = machine.allocate("words", kWatchedBytes);
    if (!words.ok()) return fail(state, words.error().text());
    ptx::KernelArguments arguments;
    arguments.add(machine.address(*words));
    const ptx::LaunchGeometry geometry{{kWatchedBytes / 4 / 256}, {256}};
    static_cast<void>(machine.launch(*kernel, geometry, arguments, {.checks = ptx::EnabledChecks::none()}));
    const double before = resident_bytes();
    if (!machine.launch(*kernel, geometry, arguments, {}).ok()) return fail(state, "a finding");
    grown = resident_bytes() - before;
  }
  state.counters["bytes_per_byte"] = grown / static_cast<double>(kWatchedBytes);
  state.counters["ceiling"] = 3;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const assay::ptx::PtxDevice device(assay::bench::options_of(assay::bench::Interpretation::kChecked));
  if (const auto can = device.can_run(); !can.is_available) {
    std::fprintf(stderr, "assay_ptx_bench: cannot run kernels: %s\n", can.tool_or_reason.c_str());
    return 77;
  }
  for (const assay::bench::Case& measured : assay::bench::kCases) {
    benchmark::RegisterBenchmark(("ptx/" + std::string(measured.name)).c_str(),
                                 [&](benchmark::State& state) { assay::bench::execution(state, measured); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("ptx/shadow", assay::bench::shadow)->Iterations(1)->Unit(benchmark::kMillisecond);
  return assay::bench::run_registered();
}
