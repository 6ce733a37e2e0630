// Implements the part of cpu_run.hpp that depends on the device and the printer, and tests it.
#include "harness/testing/cpu_run.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "backends/cpu/device.hpp"
#include "backends/source/print.hpp"

namespace assay::harness::testing {
KernelSource source_of(const TestKernel& test_kernel) {
  std::string python = test_kernel.python;
  const std::string definition = "def k(";
  const std::size_t at = python.find(definition);
  if (at == std::string::npos) throw std::logic_error(test_kernel.name + " lacks " + definition);
  python.replace(at, definition.size(), "def " + test_kernel.name + "(");
  return kernel_of(python);
}

std::unique_ptr<backends::Device> cpu_device() {
  return std::make_unique<cpu::CpuDevice>(
      cpu::CpuOptions{.worker_executable = ASSAY_WORKER, .uses_build_cache = false});
}

Printer faulty_printer(const std::vector<TestKernel>& test_kernels) {
  return [test_kernels](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                        backends::SourceTarget target) {
    Result<backends::EmittedKernel> emitted = source::print(module, forward, backward, target);
    if (!emitted.ok() || target != backends::SourceTarget::kCpp) return emitted;
    for (const TestKernel& test_kernel : test_kernels) {
      if (test_kernel.name != forward.name) continue;
      for (const TextEdit& edit : test_kernel.edits) {
        if (const Result<void> injected = attacks::inject_code(*emitted, edit); !injected.ok())
          ADD_FAILURE() << injected.error().text();
      }
    }
    return emitted;
  };
}

std::vector<CaseRecord> records_of(std::span<const KernelSource> sources, backends::Device& device,
                                   const Printer& printer, const RunOptions& options) {
  std::vector<CaseRecord> records;
  run_batch(sources, device, printer, options, [&](CaseRecord record) { records.push_back(std::move(record)); });
  return records;
}

RunOptions CpuRun::quick() {
  RunOptions options;
  options.policy = JudgingPolicy::quick();
  options.time_limit = std::chrono::milliseconds(300);
  return options;
}

CpuRun::CpuRun(const std::vector<TestKernel>& test_kernels, RunOptions options) {
  std::vector<KernelSource> sources;
  for (const TestKernel& test_kernel : test_kernels)
    sources.push_back(source_of(test_kernel));
  const auto device = cpu_device();
  records_ = records_of(sources, *device, faulty_printer(test_kernels), options);
}

const CaseRecord& CpuRun::record(const std::string& name, const std::string& pass) const {
  for (const CaseRecord& record : records_) {
    if (record.kernel == name && record.pass == pass) return record;
  }
  throw std::logic_error("no record of " + name + "/" + pass);
}

std::string summary(const CaseRecord& record) {
  return fmt::format("{} {}({}): {}", record.name, to_text(record.outcome), record.outcome_detail, record.message);
}

namespace {

constexpr const char* kDouble = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]
)";

std::string printed(const std::vector<TextEdit>& edits) {
  const TestKernel test_kernel{.name = "doubled", .python = kDouble, .edits = edits};
  const KernelSource source = source_of(test_kernel);
  const auto emitted =
      faulty_printer({test_kernel})(*source.module, source.module->kernels[0], nullptr, backends::SourceTarget::kCpp);
  return emitted.value().body;
}

TEST(CodeInjectingPrinter, ReplacesFirstMatchOfPattern) {
  const std::string body = printed({{R"((\d)\.0f)", "$1.5f"}});
  EXPECT_NE(body.find("2.5f * x.at(i)"), std::string::npos) << body;
}

TEST(CodeInjectingPrinter, InsertsCodeAtThreadStartAndBeforeBody) {
  const std::string body = printed({at_thread_start(backends::Pass::kForward, "here();"), before_body("int first;")});
  EXPECT_EQ(body.find("int first;\n"), 0U) << body;
  const std::size_t loop = body.find("++thread) {\n");
  EXPECT_EQ(body.find("here();"), loop + 16) << body;
}

TEST(CodeInjectingPrinter, FailsIfInjectionPointIsNotFound) {
  EXPECT_NONFATAL_FAILURE(printed({{"nowhere", "x"}}),
                          "cannot inject code into doubled: no match for nowhere in its text");
}

}  // namespace
}  // namespace assay::harness::testing
