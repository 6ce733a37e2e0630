// Faults injected into compilers, the emitter, the interpreter of PTX and the C++ of kernels. The search must name the
// component with the fault, or none, but never another one.
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cpu/worker.hpp"
#include "backends/device/registry.hpp"
#include "backends/device/scratch_directory.hpp"
#include "harness/blame/blame.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/run/batch.hpp"
#include "harness/testing/kernel_text.hpp"
#include "support/fault_injection.hpp"

namespace {

/// The fault in the compiler of PTX or in its interpreter; empty: none.
std::string& active_fault() {
  static std::string fault;
  return fault;
}

}  // namespace

bool assay::fault_is_active(std::string_view fault) { return fault == active_fault(); }

namespace assay::blame {
namespace {

namespace fs = std::filesystem;
using backends::Pass;
using backends::SourceTarget;
using harness::CaseRecord;
using harness::RunOptions;

constexpr std::string_view kBranches = R"(
@wp.kernel
def k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(1.5)
    for j in range(n):
        v = x[j]
        if v > 0.5:
            s = s * v
        else:
            s = s - v * 0.25
    out[i] = s * x[i]
)";

constexpr std::string_view kIntegers = R"(
@wp.kernel
def k(a: wp.array(dtype=int), b: wp.array(dtype=int), out: wp.array(dtype=int), least: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = (a[i] - b[i]) ^ (b[i] << 3)
    least[i] = wp.min(a[i], b[i])
)";

constexpr std::string_view kChoice = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.where(x[i] > 0.25, x[i] * 3.0, -x[i])
)";

constexpr std::string_view kProducts = R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i] * y[i] + 2.0 * x[i]
    b = wp.sin(a) - x[i] / (2.0 + y[i] * y[i])
    out[i] = a * b
)";

constexpr std::string_view kVector = R"(
@wp.kernel
def k(x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.dot(x[i], x[i]) + 0.5
)";

/// One fault: in a compiler if `compiler_edit` (an edit of the C++ by sed, made only at -O2) or `switch_name` of a
/// compiler is set, in the interpreter if `switch_name` is that of an instruction, else in the emitted text.
struct InjectedFault {
  std::string_view name;
  std::string_view culprit;  ///< beginning of the culprit
  std::string_view device;
  std::string_view kernel;
  Pass pass = Pass::kForward;
  std::string_view compiler_edit = "";
  std::string_view switch_name = "";
  std::string_view pattern = "";  ///< replaced in the emitted text
  std::string_view replacement = "";
};

constexpr InjectedFault compiler_of_cpp(std::string_view name, std::string_view edit) {
  return {.name = name, .culprit = "compiler(", .device = "cpu", .kernel = kBranches, .compiler_edit = edit};
}
constexpr InjectedFault compiler_of_ptx(std::string_view name) {
  return {.name = name, .culprit = "compiler(NVRTC", .device = "ptx", .kernel = kBranches, .switch_name = name};
}
constexpr InjectedFault instruction(std::string_view name, std::string_view kernel) {
  return {.name = name, .culprit = "interpreter", .device = "ptx", .kernel = kernel, .switch_name = name};
}
constexpr InjectedFault gradient(std::string_view name, std::string_view device, std::string_view kernel,
                                 std::string_view pattern, std::string_view replacement) {
  return {.name = name,
          .culprit = "emitter",
          .device = device,
          .kernel = kernel,
          .pass = Pass::kBackward,
          .pattern = pattern,
          .replacement = replacement};
}
constexpr InjectedFault undefined(std::string_view name, std::string_view kernel, std::string_view pattern,
                                  std::string_view replacement) {
  return {.name = name,
          .culprit = "kernel",
          .device = "cpu",
          .kernel = kernel,
          .pattern = pattern,
          .replacement = replacement};
}

constexpr std::array kFaults{
    compiler_of_cpp("compiler inverts a comparison", R"(s/v > 0\.5f/v < 0.5f/)"),
    compiler_of_cpp("compiler changes a constant", R"(s/v \* 0\.25f/v * 0.125f/)"),
    compiler_of_cpp("compiler turns a difference into a sum", R"(s/s = s - v/s = s + v/)"),
    compiler_of_cpp("compiler drops the first iteration", R"(s/for (int j = 0; j < n/for (int j = 1; j < n/)"),
    compiler_of_cpp("compiler drops a branch", R"(s/s = s \* v;/;/)"),
    compiler_of_ptx("compiler_drops_branch"),
    compiler_of_ptx("compiler_mul_is_add"),
    compiler_of_ptx("compiler_inverts_comparison"),
    compiler_of_ptx("compiler_sub_is_add"),
    compiler_of_ptx("compiler_inverts_select"),
    instruction("interpreter_selp_exchanged", kChoice),
    instruction("interpreter_min_is_max", kIntegers),
    instruction("interpreter_shl_is_shr", kIntegers),
    instruction("interpreter_sub_exchanged", kIntegers),
    instruction("interpreter_neg_is_abs", kChoice),
    gradient("emitter drops a factor", "cpu", kBranches, R"(adj_s_1 \* s_1)", "adj_s_1"),
    gradient("emitter forgets a sign", "cpu", kBranches, R"(0 - adj_s_1)", "adj_s_1"),
    gradient("emitter changes a constant", "ptx", kBranches, R"(adj_mul \* 0\.25f)", "adj_mul * 0.5f"),
    gradient("emitter drops a contribution", "ptx", kBranches, R"(adj_s_1 = adj_s_2;)", "adj_s_1 = adj_s_1;"),
    gradient("emitter exchanges branches", "ptx", kBranches, R"(real adj_v = 0;\n\s*if \(gt\))",
             "real adj_v = 0; if (!gt)"),
    gradient("emitter uses another factor", "cpu", kBranches, R"(real adj_s = seed \* x_i)", "real adj_s = seed * s"),
    gradient("emitter doubles the cotangent", "cpu", kChoice, R"(gt \? seed :)", "gt ? seed + seed :"),
    gradient("emitter exchanges a choice", "ptx", kChoice, R"(gt \? seed : real\(0\.0f\))", "gt ? real(0.0f) : seed"),
    gradient("emitter changes a derivative", "cpu", kProducts, R"(cos\()", "sin("),
    gradient("emitter halves a product", "ptx", kProducts, R"(\* 2\.0f)", "* 1.0f"),
    undefined("shift by too many bits", kIntegers, R"(b\.at\(i\) << 3)", "b.at(i) << (35 + (b.at(i) & 0))"),
    undefined("signed overflow", kIntegers, R"(out\.at\(i\) = )",
              "int big = 2147483647; out.at(i) = (big + (a.at(i) | 1) * 0 + 1) + "),
    undefined("index behind a local array", kBranches, R"(out\.at\(i\) = )",
              "real local[2] = {1, 2}; int far = 2 + n * 0; out.at(i) = local[far] + 1 + "),
    undefined("misaligned access", kChoice, R"(out\.at\(i\) = )",
              "char bytes[32] = {1, 2, 3}; real* odd = (real*)(bytes + 1); out.at(i) = *odd + 1 + "),
    undefined("invalid bool", kVector, R"(out\.at\(i\) = )",
              "unsigned char two = 2; bool odd = *(bool*)&two; out.at(i) = (odd ? 2 : 1) + "),
};

class InjectedFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto can = backends::make_device("ptx").take()->can_run(); !can.is_available)
      GTEST_SKIP() << can.tool_or_reason;
  }
  void TearDown() override { active_fault().clear(); }

  /// A compiler that edits the source if it optimizes; empty: the default compiler.
  [[nodiscard]] std::string compiler_for(const InjectedFault& fault, std::size_t number) const {
    if (fault.compiler_edit.empty()) return "";
    const fs::path path = folder_->path() / fmt::format("compiler{}", number);
    std::ofstream(path) << fmt::format(
        "#!/bin/sh\ncase \" $* \" in\n  *' -O2 '*)\n    for argument; do\n      case $argument in *.cpp) sed -i '{}' "
        "\"$argument\" ;; esac\n    done ;;\nesac\nexec c++ \"$@\"\n",
        fault.compiler_edit);
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  /// Judges the kernel with the fault, and gives the culprit; empty if the kernel passes.
  std::string culprit_of(const InjectedFault& fault, std::size_t number) {
    active_fault() = fault.switch_name;
    const harness::KernelSource source = harness::testing::kernel_of(std::string(fault.kernel));
    const harness::Printer print = [&](const ir::Module& module, const ir::Function& forward,
                                       const ir::Function* backward,
                                       SourceTarget target) -> Result<backends::EmittedKernel> {
      Result<backends::EmittedKernel> emitted = harness::printer()(module, forward, backward, target);
      // Code that is undefined in C++ only; the emitter would make it for both targets.
      const bool applies =
          target == SourceTarget::kCpp || (fault.culprit == "emitter" && target == SourceTarget::kCuda);
      if (!emitted.ok() || fault.pattern.empty() || !applies) return emitted;
      backends::EmittedKernel kernel = emitted.take();
      const std::regex pattern{std::string(fault.pattern)};
      EXPECT_TRUE(std::regex_search(kernel.body, pattern)) << fault.name << ": no match in\n" << kernel.body;
      kernel.body = std::regex_replace(kernel.body, pattern, std::string(fault.replacement));
      return kernel;
    };
    const backends::DeviceOptions device_options{.compiler = compiler_for(fault, number),
                                                 .cache_directory = (folder_->path() / "cache").string()};
    RunOptions options;
    options.forward = fault.pass == Pass::kForward;
    options.backward = !options.forward;
    options.policy = harness::JudgingPolicy::quick();
    options.mode.flags.optimization_level = 2;
    const auto device = backends::make_device(fault.device, device_options);
    EXPECT_TRUE(device.ok());
    std::optional<CaseRecord> failing;
    harness::run_batch({&source, 1}, **device, print, options, [&](CaseRecord record) { failing = std::move(record); });
    if (!failing || harness::is_pass(failing->outcome)) return "";
    if (!can_examine(*failing)) return fmt::format("{} is not examined", to_text(failing->outcome));
    const harness::FailureOrigin blame = find_culprit(*failing, source, print, options, device_options);
    fmt::print("{:45} {} ({})\n", fault.name, blame.responsible_component, blame.reason);
    if (!blame.responsible_component.starts_with(fault.culprit)) {
      for (const harness::ExaminedBuild& witness : blame.examined_builds)
        fmt::print("    {} {}: {}\n", witness.device, witness.build, witness.result);
    }
    return blame.responsible_component;
  }

  Result<backends::ScratchDirectory> folder_ = backends::ScratchDirectory::create(fs::temp_directory_path());
};

TEST_F(InjectedFaults, AreBlamedOnTheComponentWithTheFault) {
  static_assert(kFaults.size() == 30);
  constexpr int kRequired = 28;
  int found = 0;
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    const InjectedFault& fault = kFaults[i];
    const std::string culprit = culprit_of(fault, i);
    if (culprit.starts_with(fault.culprit)) ++found;
    else EXPECT_EQ(culprit, "undetermined") << fault.name;
  }
  fmt::print("{} of {} faults are blamed on the right component\n", found, kFaults.size());
  EXPECT_GE(found, kRequired);
}

}  // namespace
}  // namespace assay::blame

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
