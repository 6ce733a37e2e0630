// The `ptx` device from the kernel to the verdict: injected faults get the correct outcome, and kernels of exactly
// defined operations give the bits of the CPU.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backends/cpu/device.hpp"
#include "backends/device/registry.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "harness/calibrate/unit_tables.hpp"
#include "harness/judge/context.hpp"
#include "harness/judge/draw_sets.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/run/batch.hpp"
#include "harness/suite/select/select.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::harness {
namespace {

using backends::make_device;
using backends::Pass;
using ::testing::HasSubstr;

class PtxDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = make_device("ptx").take();
    if (const auto can = device_->can_run(); !can.is_available) GTEST_SKIP() << can.tool_or_reason;
  }
  std::unique_ptr<backends::Device> device_;
};

// ---------------------------------------------------------------------------------------------------- injected faults

constexpr std::string_view kGather = R"(import warp as wp

@wp.kernel
def k(x: wp.array(dtype=float), idx: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[idx[i]] * x[idx[i]]
)";

/// A fault in the emitted text of kGather, and the expected outcome of its pass.
struct Fault {
  const char* name;
  const char* pattern;
  const char* replacement;
  Pass pass;
  const char* kind;
  const char* allocation;  ///< of the first finding
};
constexpr Fault kFaults[] = {
    {"one too far", R"(out\.at\(i\) = x)", "out.at(i + 1) = x", Pass::kForward, "out_of_bounds", "out"},
    {"one too near", R"(= x\.at\(wrap_index\(idx\.at\(i\), x\.shape\[0\]\)\) \*)", "= x.at(idx.at(i) - 64) *",
     Pass::kForward, "out_of_bounds", "x"},
    {"into a neighbour", R"(= x\.at\(wrap_index\(idx\.at\(i\), x\.shape\[0\]\)\) \*)", "= x.at(idx.at(i) + 100000) *",
     Pass::kForward, "out_of_bounds", "x"},
    {"misaligned", R"(= x\.at\(wrap_index\(idx\.at\(i\), x\.shape\[0\]\)\) \*)", "= *(real*)((char*)&x.at(0) + 2) *",
     Pass::kForward, "misaligned", "x"},
    {"reads an uninitialised element", R"(out\.at\(i\) = x)", "out.at(i) = out.at(i) + x", Pass::kForward,
     "uninitialised_read", "out"},
    {"all threads write one element", R"(out\.at\(i\) = x)", "out.at(0) = x", Pass::kForward, "write_write_race",
     "out"},
    {"no atomic", R"(atomic_add\(grad_x\.at\(wrap_index_2\), adj_x_wrap_index_1\))",
     "grad_x.at(0) += adj_x_wrap_index_1", Pass::kBackward, "read_write_race", "grad_x"},
    {"writes a primal", R"(if \(grad_out\.data\) grad_out\.at\(i\) = 0\.0f;)",
     "grad_out.at(i) = 0.0f; x.at(idx_i) = seed;", Pass::kBackward, "read_only_write", "x"},
    {"reads a primal output", R"(real adj_x_wrap_index = seed \* x_wrap_index_1;)",
     "real adj_x_wrap_index = seed * x_wrap_index_1 + 0.0f * out.at(i);", Pass::kBackward, "uninitialised_read", "out"},
};

std::vector<CaseRecord> judged(backends::Device& device, const Fault* fault) {
  auto file = frontend::parse_python(std::string(kGather), "k.py");
  EXPECT_TRUE(file.ok()) << file.error().text();
  KernelSource source;
  source.family = "user";
  source.kernel = "k";
  source.module = std::make_shared<const ir::Module>(file->module);
  const Printer injection = [&](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                                backends::SourceTarget target) {
    auto emitted = printer()(module, forward, backward, target);
    if (!emitted.ok() || fault == nullptr || target != backends::SourceTarget::kCuda) return emitted;
    const std::regex pattern(fault->pattern);
    EXPECT_TRUE(std::regex_search(emitted->body, pattern)) << fault->name << "\n" << emitted->body;
    emitted->body =
        std::regex_replace(emitted->body, pattern, fault->replacement, std::regex_constants::format_first_only);
    return emitted;
  };
  RunOptions options;
  options.policy = JudgingPolicy::quick();
  std::vector<CaseRecord> records;
  run_batch({&source, 1}, device, injection, options, [&](CaseRecord record) { records.push_back(std::move(record)); });
  return records;
}

TEST_F(PtxDevice, DetectsInjectedFaultsWithSourceLocations) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    const std::vector<CaseRecord> records = judged(*device_, &fault);
    ASSERT_EQ(records.size(), 2U);
    const CaseRecord& record = records[fault.pass == Pass::kForward ? 0 : 1];
    EXPECT_EQ(record.outcome, Outcome::memory_fault) << record.message;
    EXPECT_EQ(record.outcome_detail, fault.kind) << record.message;
    ASSERT_FALSE(record.memory_findings.empty());
    const backends::MemoryFinding& found = record.memory_findings.front();
    EXPECT_EQ(found.kind, fault.kind);
    EXPECT_EQ(found.allocation_name, fault.allocation) << found.text;
    EXPECT_EQ(found.kernel, fmt::format("k_{}", to_text(fault.pass)));
    EXPECT_GT(found.site.code_line, 0U);
    EXPECT_GT(found.site.source_line, 0U);
    EXPECT_EQ(found.conflicting_access.has_value(), std::string_view(fault.kind).ends_with("race"));
    EXPECT_THAT(record.message, HasSubstr("[compute_75]"));
    // finite_differences compares the incorrect forward pass with the backward pass.
    if (fault.pass == Pass::kBackward) {
      EXPECT_TRUE(is_pass(records[0].outcome)) << records[0].message;
    }
  }
}

TEST_F(PtxDevice, CorrectKernelPassesAndHasProfileForEachArchitecture) {
  for (const CaseRecord& record : judged(*device_, nullptr)) {
    EXPECT_TRUE(is_pass(record.outcome)) << record.message;
    EXPECT_TRUE(record.memory_findings.empty());
    ASSERT_EQ(record.profiles.size(), 2U);
    EXPECT_EQ(record.profiles[0].target, "compute_75");
    EXPECT_EQ(record.profiles[1].target, "compute_100");
    EXPECT_GT(record.profiles[0].measures.at("thread_instructions"), 0);
    EXPECT_FALSE(record.profiles[0].exactness.approximation_reaches_result);
  }
}

TEST_F(PtxDevice, DoesNotReportFaultIfItsCheckIsDisabled) {
  const Fault& unwritten = kFaults[4];
  const auto lenient = make_device("ptx", {.compiler = "", .disabled_checks = {"uninitialised"}}).take();
  EXPECT_NE(judged(*lenient, &unwritten)[0].outcome_detail, "uninitialised_read");
}

// ------------------------------------------------------------------------------------------------------------ tables

/// A file name that no other test or process uses.
std::string new_file() {
  static int count = 0;
  return fmt::format("{}/assay-{}-{}.tables", ::testing::TempDir(), ::getpid(), count++);
}

/// Measures tables on a device through NVRTC, writes them to a file and reads them. The `ptx` device returns correctly
/// rounded results.
TEST_F(PtxDevice, LoadsMeasuredApproximationTablesFromFile) {
  const std::string file = new_file();
  const auto measured = measure_tables(*device_, {"rcp.approx.ftz.f64"}, 1U << 14U);
  ASSERT_TRUE(measured.ok()) << measured.error().text();
  EXPECT_TRUE(measured->is_complete);
  std::ofstream(file, std::ios::binary) << ptx::encode_tables(measured->tables);
  const auto tables = ptx::read_tables(file);
  ASSERT_TRUE(tables.ok()) << tables.error().text();
  ASSERT_EQ(tables->tables.size(), 1U);
  const ptx::ApproximationTable& table = tables->tables.front();
  EXPECT_GT(table.verified_operand_count(), 200'000U);
  EXPECT_THAT(table.windows().at(0).ulp_differences, ::testing::Each(0));
  const auto device = make_device("ptx", {.compiler = "", .approximation_tables_file = file});
  ASSERT_TRUE(device.ok()) << device.error().text();
  EXPECT_THAT((*device)->can_run().tool_or_reason, HasSubstr("approximate instructions as measured on"));
  std::filesystem::remove(file);
}

TEST(ApproximationTables, RejectMissingFileAndFileWithoutHeader) {
  EXPECT_FALSE(make_device("ptx", {.compiler = "", .approximation_tables_file = "/nonexistent/tables"}).ok());
  const std::string file = new_file();
  std::ofstream(file) << "hello\n";
  EXPECT_EQ(ptx::read_tables(file).error().text(),
            file +
                ": the file must begin with the header of instruction tables; create it with 'assay calibrate "
                "--tables'");
  std::filesystem::remove(file);
}

// -------------------------------------------------------------------------------------------------------- equal bits

bool is_exact(const ir::UlpBound& bound) {
  return bound.kind == ir::UlpBound::Kind::kExact ||
         (bound.kind == ir::UlpBound::Kind::kUlpsFromRoundedResult && bound.ulps == 0);
}

/// Whether every operation has one correct result, on the CPU and on CUDA: + - * / sqrt fma, and operations that do not
/// round.
bool is_exact(const ir::Function& function) {
  return std::ranges::all_of(function.expressions, [](const ir::Expr& expr) {
    if (expr.kind != ir::ExprKind::kOperation) return true;
    const ir::Accuracy& accuracy = ir::row(expr.op).accuracy;
    return is_exact(accuracy.cuda_f32) && is_exact(accuracy.cuda_f64) && is_exact(accuracy.libm_f32) &&
           is_exact(accuracy.libm_f64);
  });
}
bool is_exact(const ir::Module& module) {
  return std::ranges::all_of(module.functions, [](const ir::Function& f) { return is_exact(f); }) &&
         std::ranges::all_of(module.kernels, [](const ir::Function& f) { return is_exact(f); });
}

/// A kernel built for one device, and the memory of a launch on it.
struct Side {
  std::unique_ptr<backends::Device> device;
  std::unique_ptr<backends::DeviceSession> session;
  std::vector<backends::BuildOutcome> built;
};

Side side_of(std::unique_ptr<backends::Device> device, const std::vector<const PreparedKernel*>& kernels) {
  Side side{.device = std::move(device)};
  std::vector<backends::EmittedKernel> emitted;
  for (const PreparedKernel* kernel : kernels) {
    const bool backward = kernel->adjoint.has_value();
    emitted.push_back(*printer()(backward ? kernel->adjoint->module : *kernel->source->module, kernel->kernel(),
                                 backward ? &kernel->adjoint->module.kernels[0] : nullptr, side.device->target()));
  }
  side.built = side.device->build(emitted, backends::BuildFlags::strict());
  side.session = side.device->open({}).take();
  return side;
}

/// The scalars of every array after one launch in the kernel's own types, with sequential threads.
std::vector<std::vector<ComputedScalar>> arrays_after(Side& side, const backends::BuiltKernel& kernel,
                                                      const KernelUnderTest& subject, const InputSet& set,
                                                      const std::vector<bool>& poisoned, Pass pass,
                                                      const std::string& target) {
  side.session->reset();
  std::vector<ir::Argument> gradients;
  if (pass == Pass::kBackward) {
    gradients = make_gradient_arguments(subject, set, Precision::kNative, InitialGradient::kNonZero, 1);
  }
  std::vector<ArrayRole> roles;
  // A replay may read the results of the forward launch.
  const auto reads = [&](std::size_t p) {
    return pass == Pass::kBackward &&
           ir::parameter_use(subject.adjoint->module, subject.adjoint->module.kernels[0])[p].read;
  };
  for (std::size_t p = 0; p < poisoned.size() + gradients.size(); ++p)
    roles.push_back({.name = fmt::format("{}", p), .is_write_only = p < poisoned.size() && poisoned[p] && !reads(p)});
  const auto placed = KernelLauncher::place(*side.session, subject.module, kernel, pass, backends::Precision::kNative,
                                            borrow_launch(set.launch_by_precision[Precision::kNative]), gradients,
                                            roles, std::byte{0}, {backends::ThreadOrder::kForward, 1});
  backends::LaunchRequest request = placed->request();
  request.target = target;
  request.time_limit = std::chrono::seconds(20);
  const backends::RunOutcome outcome = side.session->run({&request, 1}).front();
  EXPECT_TRUE(std::holds_alternative<backends::Completed>(outcome)) << backends::describe(outcome);
  std::vector<std::vector<ComputedScalar>> arrays;
  for (std::size_t a = 0; a < placed->arrays().size(); ++a) {
    if (!placed->arrays()[a].is_in_memory) continue;
    arrays.push_back(
        read_scalars(subject.module, *placed->arrays()[a].initial_content, placed->bytes(*side.session, a)));
  }
  return arrays;
}

bool equal(const ComputedScalar& a, const ComputedScalar& b) {
  const bool same_value = a.value == b.value && std::signbit(a.value) == std::signbit(b.value);
  return a.integer == b.integer && (same_value || (std::isnan(a.value) && std::isnan(b.value)));
}

constexpr JudgingPolicy kOneSet{.uniform_input_sets = 1,
                                .near_bound_input_sets = 0,
                                .wide_magnitude_input_sets = 0,
                                .fully_checked_input_sets = 1,
                                .max_redraws_per_input_set = 0,
                                .judges_large_launch = false};

TEST_F(PtxDevice, KernelsOfExactOperationsMatchCpuBitForBit) {
  const auto selection = select({"*"}, {.random_kernels_per_family = 2});
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  std::vector<std::unique_ptr<PreparedKernel>> prepared;
  std::vector<const PreparedKernel*> kernels;
  for (const SelectedKernel& one : selection->kernels) {
    if (!is_exact(*one.source.module)) continue;
    prepared.push_back(
        std::make_unique<PreparedKernel>(prepare_kernel(one.source, printer(), backends::SourceTarget::kCpp, {})));
    if (!prepared.back()->early_result) kernels.push_back(prepared.back().get());
  }
  ASSERT_GE(kernels.size(), 60U);
  Side cpu = side_of(std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.worker_executable = ASSAY_WORKER}), kernels);
  Side ptx = side_of(make_device("ptx").take(), kernels);
  std::size_t compared = 0;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const PreparedKernel& kernel = *kernels[k];
    SCOPED_TRACE(kernel.source->selector);
    const auto* cpu_built = std::get_if<backends::BuiltKernel>(&cpu.built[k]);
    const auto* ptx_built = std::get_if<backends::BuiltKernel>(&ptx.built[k]);
    ASSERT_TRUE(cpu_built != nullptr && ptx_built != nullptr);
    const KernelUnderTest subject{.module = *kernel.source->module,
                                  .kernel = kernel.kernel(),
                                  .promoted = *kernel.promoted,
                                  .adjoint = kernel.adjoint ? &*kernel.adjoint : nullptr,
                                  .oracle = *kernel.oracle,
                                  .promoted_oracle = *kernel.promoted_oracle};
    auto space = InputSpace::make(subject.module, subject.kernel, subject.oracle);
    ASSERT_TRUE(space.ok()) << space.error().text();
    const auto drawn = draw_input_sets(subject, *space, kOneSet, {}, 5);
    ASSERT_TRUE(std::holds_alternative<std::vector<InputSet>>(drawn));
    const InputSet& set = std::get<std::vector<InputSet>>(drawn).front();
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const bool exact =
          pass == Pass::kForward || (subject.adjoint != nullptr && is_exact(subject.adjoint->module.kernels[0]));
      if (!exact) continue;
      const std::vector<bool> poisoned = space->uninitialized();
      const auto expected = arrays_after(cpu, *cpu_built, subject, set, poisoned, pass, "");
      for (const std::string& target : ptx_built->target_architectures) {
        const auto got = arrays_after(ptx, *ptx_built, subject, set, poisoned, pass, target);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t a = 0; a < got.size(); ++a) {
          for (std::size_t i = 0; i < got[a].size(); ++i) {
            ++compared;
            ASSERT_TRUE(equal(got[a][i], expected[a][i]))
                << to_text(pass) << ' ' << target << ": scalar " << i << " of array " << a << " is " << got[a][i].value
                << ", on the CPU " << expected[a][i].value;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 5'000U);
}

}  // namespace
}  // namespace assay::harness
