// Both devices from Warp Python to results. Skipped without Warp.
#include "backends/warp/device.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/warp/generated_text.hpp"
#include "backends/warp/replaced_code.hpp"

namespace assay::warp {
namespace {

using namespace backends;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A kernel `f(x, factor, out)` over one dimension with these statements, in both precisions.
EmittedKernel kernel_of(const std::string& statements, const std::string& type = "float") {
  const auto source = [&](const std::string& scalar, std::size_t bytes) {
    return PythonSource{.kernel_name = "f",
                        .text = fmt::format("import warp as wp\n\n\n@wp.kernel\n"
                                            "def f(x: wp.array(dtype={0}), factor: {0}, out: wp.array(dtype={0})):\n"
                                            "    i = wp.tid()\n{1}\n",
                                            scalar, statements),
                        .gradients = {{.parameter_index = 0, .bytes = bytes}, {.parameter_index = 2, .bytes = bytes}}};
  };
  PythonBinding binding{
      .parameters = {{.rank = 1}, {}, {.rank = 1}}, .native = source(type, 4), .promoted = source("wp.float64", 8)};
  const std::vector<std::string> forward{"x", "factor", "out"};
  std::vector<std::string> backward = forward;
  backward.insert(backward.end(), {"gradient of x", "gradient of out"});
  return {.name = "f",
          .helpers = {},
          .body = binding.native.text,
          .entry_points = {{.pass = Pass::kForward, .symbol = "forward", .parameter_types = forward},
                           {.pass = Pass::kBackward, .symbol = "backward", .parameter_types = backward}},
          .python = std::make_shared<const PythonBinding>(binding)};
}

/// The arrays of a launch after it.
struct Ran {
  RunOutcome outcome;
  std::vector<float> x, out, grad_x, grad_out;
};

class WarpDeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const auto& python = known_interpreter(); !python.ok()) GTEST_SKIP() << python.error().text();
    const WarpOptions options{.worker_executable = ASSAY_WARP_WORKER, .cache_directory = ASSAY_WARP_CACHE};
    if (std::string_view(GetParam()) == "warp-cpu") device_ = std::make_unique<WarpCpuDevice>(options);
    else if (std::string_view(GetParam()) == "warp-cuda") device_ = std::make_unique<WarpCudaDevice>(options);
    else device_ = std::make_unique<WarpPtxDevice>(options, ptx::PtxOptions{});
    const Capability can = device_->can_run();
    if (std::string_view(GetParam()) == "warp-cuda" && !can.is_available) GTEST_SKIP() << can.tool_or_reason;
    ASSERT_TRUE(can.is_available) << can.tool_or_reason;
  }

  BuildOutcome build(const EmittedKernel& kernel) { return device_->build({&kernel, 1}, BuildFlags::strict()).front(); }

  /// Launches on x = {1, 2, 3}, factor = 2, out = {7, 7, 7}, gradients {0.5, 0.5, 0.5} of x and {1, 2, 3} of out. Array
  /// elements are `gap` elements apart, and those of gradients one more.
  Ran run(DeviceSession& session, const BuiltKernel& built, Pass pass, int gap = 0,
          std::chrono::milliseconds limit = std::chrono::milliseconds{2000}) {
    session.reset();
    std::vector<BufferId> buffers;
    LaunchRequest launch{.kernel = &built, .pass = pass, .threads = 3, .time_limit = limit};
    const auto add = [&](const std::array<float, 3>& values, int distance) {
      const std::int32_t shape = 3;
      const std::int64_t stride = 4 * (1 + distance);
      buffers.push_back(session.allocate(static_cast<std::size_t>(3 * stride)).value());
      for (std::size_t k = 0; k < 3; ++k)
        std::memcpy(session.bytes(buffers.back()).data() + k * static_cast<std::size_t>(stride), &values[k], 4);
      return KernelArgument::array(BufferAddress{buffers.back(), 0}, {&shape, 1}, {&stride, 1},
                                   {.name = fmt::format("array {}", buffers.size())});
    };
    launch.arguments = {add({1, 2, 3}, gap), KernelArgument::value(2.0F), add({7, 7, 7}, gap)};
    if (pass == Pass::kBackward) {
      launch.arguments.push_back(add({0.5F, 0.5F, 0.5F}, gap == 0 ? 0 : gap + 1));
      launch.arguments.push_back(add({1, 2, 3}, gap == 0 ? 0 : gap + 1));
    }
    Ran ran{.outcome = session.run({&launch, 1}).front()};
    const auto read = [&](std::size_t buffer) {
      std::vector<float> values(3);
      if (buffer >= buffers.size()) return values;
      const std::size_t stride = session.bytes(buffers[buffer]).size() / 3;
      for (std::size_t k = 0; k < 3; ++k)
        std::memcpy(&values[k], session.bytes(buffers[buffer]).data() + k * stride, 4);
      return values;
    };
    ran.x = read(0), ran.out = read(1), ran.grad_x = read(2), ran.grad_out = read(3);
    return ran;
  }

  std::unique_ptr<WarpDevice> device_;
};

INSTANTIATE_TEST_SUITE_P(Devices, WarpDeviceTest, ::testing::Values("warp-cpu", "warp-ptx", "warp-cuda"),
                         [](const auto& test) { return std::string(test.param).substr(5); });

TEST_P(WarpDeviceTest, ForwardAndBackwardPassGiveExpectedValues) {
  const BuildOutcome built = build(kernel_of("    out[i] = factor * x[i] * x[i]"));
  ASSERT_TRUE(std::holds_alternative<BuiltKernel>(built)) << std::get<BuildFailed>(built).log;
  const auto& kernel = std::get<BuiltKernel>(built);
  EXPECT_NE(kernel.find(Pass::kBackward, Precision::kPromoted), nullptr);
  const auto session = device_->open({}).take();
  for (const int gap : {0, 1}) {
    const Ran forward = run(*session, kernel, Pass::kForward, gap);
    ASSERT_TRUE(std::holds_alternative<Completed>(forward.outcome)) << describe(forward.outcome);
    EXPECT_THAT(forward.out, ElementsAre(2, 8, 18)) << "gap " << gap;
    const Ran backward = run(*session, kernel, Pass::kBackward, gap);
    ASSERT_TRUE(std::holds_alternative<Completed>(backward.outcome)) << describe(backward.outcome);
    EXPECT_THAT(backward.grad_x, ElementsAre(0.5F + 4, 0.5F + 16, 0.5F + 36)) << "gap " << gap;
    EXPECT_THAT(backward.grad_out, ElementsAre(0, 0, 0)) << "a store clears the gradient";
    EXPECT_THAT(backward.out, ElementsAre(7, 7, 7)) << "the launch restores the arrays";
  }
}

TEST_P(WarpDeviceTest, ReportsKernelThatWarpRejects) {
  const std::vector<EmittedKernel> kernels{kernel_of("    out[i] = wp.no_such_function(x[i])"),
                                           kernel_of("    out[i] = x[i] + factor")};
  const auto built = device_->build(kernels, BuildFlags::strict());
  const auto* failed = std::get_if<BuildFailed>(&built[0]);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->kind, BuildFailed::Kind::kUnsupported);
  EXPECT_THAT(failed->log.substr(0, failed->log.find('\n')), HasSubstr("no_such_function")) << "the reason comes first";
  EXPECT_TRUE(std::holds_alternative<BuiltKernel>(built[1])) << std::get<BuildFailed>(built[1]).log;
}

TEST_P(WarpDeviceTest, BuildsOnlyTheForwardPassIfThereIsNoBackwardPass) {
  EmittedKernel kernel = kernel_of("    out[i] = factor * x[i]");
  if (std::string_view(GetParam()) == "warp-cpu") {
    // Warp has no adjoint of this product. It compiles such products on the CPU faster than for a GPU.
    kernel = kernel_of(
        "    t = wp.tile_full(shape=(4, 4), value=wp.bfloat16(1.0), dtype=wp.bfloat16)\n"
        "    sums = wp.tile_zeros(shape=(4, 4), dtype=float)\n"
        "    wp.tile_matmul(t, t, sums)\n"
        "    out[i] = factor * x[i] * type(factor)(wp.tile_extract(sums, 0, 0) * 0.25)");
    const BuildOutcome both = build(kernel);
    ASSERT_TRUE(std::holds_alternative<BuildFailed>(both));
    EXPECT_THAT(std::get<BuildFailed>(both).log, HasSubstr("enable_backward"));
  }
  kernel.entry_points.pop_back();
  const BuildOutcome built = build(kernel);
  ASSERT_TRUE(std::holds_alternative<BuiltKernel>(built)) << std::get<BuildFailed>(built).log;
  const auto session = device_->open({}).take();
  const Ran ran = run(*session, std::get<BuiltKernel>(built), Pass::kForward);
  ASSERT_TRUE(std::holds_alternative<Completed>(ran.outcome)) << describe(ran.outcome);
  EXPECT_THAT(ran.out, ElementsAre(2, 4, 6));
}

TEST_P(WarpDeviceTest, ReportsOutOfBoundsAccess) {
  const BuildOutcome built = build(kernel_of("    out[i + 1000000000] = factor * x[i]"));
  ASSERT_TRUE(std::holds_alternative<BuiltKernel>(built)) << std::get<BuildFailed>(built).log;
  const auto session = device_->open({}).take();
  const Ran bad = run(*session, std::get<BuiltKernel>(built), Pass::kForward);
  if (std::string_view(GetParam()) == "warp-cpu") {
    EXPECT_THAT(describe(bad.outcome), HasSubstr("SIGSEGV"));
  } else {
    ASSERT_TRUE(std::holds_alternative<MemoryFault>(bad.outcome)) << describe(bad.outcome);
    const bool is_interpreted = std::string_view(GetParam()) == "warp-ptx";
    EXPECT_EQ(std::get<MemoryFault>(bad.outcome).kind, is_interpreted ? "out_of_bounds" : "device");
  }
  const BuildOutcome good = build(kernel_of("    out[i] = factor * x[i]"));
  const Ran next = run(*session, std::get<BuiltKernel>(good), Pass::kForward);
  EXPECT_THAT(next.out, ElementsAre(2, 4, 6)) << describe(next.outcome);
}

TEST_P(WarpDeviceTest, StopsEndlessKernel) {
  const BuildOutcome built =
      build(kernel_of("    s = float(0.0)\n"
                      "    while s < 1.0:\n"
                      "        s = s * factor\n"
                      "    out[i] = s"));
  ASSERT_TRUE(std::holds_alternative<BuiltKernel>(built)) << std::get<BuildFailed>(built).log;
  const auto session = device_->open({}).take();
  const Ran ran = run(*session, std::get<BuiltKernel>(built), Pass::kForward, 0, std::chrono::milliseconds{100});
  EXPECT_TRUE(std::holds_alternative<TimedOut>(ran.outcome)) << describe(ran.outcome);
}

TEST_P(WarpDeviceTest, CompilesSuppliedCodeInPlaceOfWarpGeneratedCode) {
  const EmittedKernel original = kernel_of("    out[i] = factor * x[i]");
  const auto texts = generate_sources(
      *known_interpreter(),
      std::vector<GeneratedCodeRequest>{{.python_source = original.python->native.text, .kernel_name = "f"}});
  ASSERT_TRUE(texts.ok() && (*texts)[0].ok());
  const GeneratedSources& text = *(*texts)[0];
  const std::string& source = std::string_view(GetParam()) == "warp-cpu" ? text.cpu_source : text.cuda_source;
  const auto with = [&](const std::string& code) {
    EmittedKernel kernel = original;
    kernel.helpers.push_back({.name = replacement_code_helper_name(Precision::kNative), .text = code});
    return kernel;
  };
  std::string changed = source;
  for (std::size_t at = 0; (at = changed.find("= wp::mul(", at)) != std::string::npos; ++at)
    changed.replace(at, 10, "= wp::add(");
  const auto built = device_->build(std::vector{original, with(source), with(changed), with(source + "no C++\n")},
                                    BuildFlags::strict());
  const auto session = device_->open({}).take();
  const std::vector<std::vector<float>> expected{{2, 4, 6}, {2, 4, 6}, {3, 4, 5}};
  std::vector<std::vector<std::string>> codes;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_TRUE(std::holds_alternative<BuiltKernel>(built[k])) << std::get<BuildFailed>(built[k]).log;
    const auto& kernel = std::get<BuiltKernel>(built[k]);
    EXPECT_EQ(run(*session, kernel, Pass::kForward).out, expected[k]) << k;
    codes.push_back(comparable_code(kernel));
  }
  EXPECT_EQ(codes[0], codes[1]);
  EXPECT_NE(codes[0], codes[2]);
  const auto* failed = std::get_if<BuildFailed>(&built[3]);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->kind, BuildFailed::Kind::kRejected);
  EXPECT_THAT(failed->log, HasSubstr("kernel build failed with error code"));
  EXPECT_THAT(failed->log, HasSubstr(": error: ")) << "the first error of the compiler";
}

TEST_P(WarpDeviceTest, BuildsOnlyNativePrecisionIfWarpRejectsF64Promotion) {
  EmittedKernel kernel = kernel_of("    out[i] = factor * x[i]");
  PythonBinding binding = *kernel.python;
  binding.promoted.text.replace(binding.promoted.text.find("x[i]"), 4, "y[i]");
  kernel.python = std::make_shared<const PythonBinding>(binding);
  const BuildOutcome built = build(kernel);
  ASSERT_TRUE(std::holds_alternative<BuiltKernel>(built)) << std::get<BuildFailed>(built).log;
  EXPECT_NE(std::get<BuiltKernel>(built).find(Pass::kForward, Precision::kNative), nullptr);
  EXPECT_EQ(std::get<BuiltKernel>(built).find(Pass::kForward, Precision::kPromoted), nullptr);
}

TEST(FindWarpInterpreter, ReportsThatPythonInterpreterHasNoWarpPackage) {
  const char* const before = std::getenv("ASSAY_WARP_PYTHON");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("ASSAY_WARP_PYTHON", "/bin/true", 1);
  const Result<WarpInterpreter> found = find_interpreter();
  ::setenv("ASSAY_WARP_PYTHON", saved.c_str(), 1);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().text(), HasSubstr("/bin/true"));
  EXPECT_THAT(found.error().text(), HasSubstr("ci/setup-warp"));
}

}  // namespace
}  // namespace assay::warp
