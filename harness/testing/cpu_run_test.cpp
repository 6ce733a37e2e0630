// The part of cpu_run.hpp that knows the device and the printer, and its tests.
#include "harness/testing/cpu_run.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "backends/cpu/device.hpp"
#include "backends/source/print.hpp"

namespace assay::harness::testing {
KernelSource source_of(const Specimen& specimen) {
  std::string python = specimen.python;
  const std::string definition = "def k(";
  const std::size_t at = python.find(definition);
  if (at == std::string::npos) throw std::logic_error(specimen.name + " lacks " + definition);
  python.replace(at, definition.size(), "def " + specimen.name + "(");
  return kernel_of(python);
}

std::unique_ptr<backends::Device> cpu_device() {
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.worker = ASSAY_WORKER, .use_cache = false});
}

Printer faulty_printer(const std::vector<Specimen>& specimens) {
  return [specimens](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                     backends::SourceTarget target) {
    Result<backends::EmittedKernel> emitted = source::print(module, forward, backward, target);
    if (!emitted.ok() || target != backends::SourceTarget::kCpp) return emitted;
    for (const Specimen& specimen : specimens) {
      if (specimen.name != forward.name) continue;
      for (const Edit& edit : specimen.edits) {
        if (const Result<void> planted = attacks::injected_fault(*emitted, edit); !planted.ok())
          ADD_FAILURE() << planted.error().text();
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
  options.policy = Policy::quick();
  options.time_limit = std::chrono::milliseconds(300);
  return options;
}

CpuRun::CpuRun(const std::vector<Specimen>& specimens, RunOptions options) {
  std::vector<KernelSource> sources;
  for (const Specimen& specimen : specimens)
    sources.push_back(source_of(specimen));
  const auto device = cpu_device();
  records_ = records_of(sources, *device, faulty_printer(specimens), options);
}

const CaseRecord& CpuRun::record(const std::string& name, const std::string& pass) const {
  for (const CaseRecord& record : records_) {
    if (record.kernel == name && record.pass == pass) return record;
  }
  throw std::logic_error("no record of " + name + "/" + pass);
}

std::string summary(const CaseRecord& record) {
  return fmt::format("{} {}({}): {}", record.name, to_text(record.outcome), record.kind, record.message);
}

namespace {

constexpr const char* kDouble = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]
)";

std::string printed(const std::vector<Edit>& edits) {
  const Specimen specimen{.name = "doubled", .python = kDouble, .edits = edits};
  const KernelSource source = source_of(specimen);
  const auto emitted =
      faulty_printer({specimen})(*source.module, source.module->kernels[0], nullptr, backends::SourceTarget::kCpp);
  return emitted.value().body;
}

TEST(FaultyPrinter, ReplacesTheFirstMatch) {
  const std::string body = printed({{R"((\d)\.0f)", "$1.5f"}});
  EXPECT_NE(body.find("2.5f * x.at(i)"), std::string::npos) << body;
}

TEST(FaultyPrinter, PutsStatementsAndLines) {
  const std::string body = printed({at_thread_start(backends::Pass::kForward, "here();"), before_body("int first;")});
  EXPECT_EQ(body.find("int first;\n"), 0U) << body;
  const std::size_t loop = body.find("++thread) {\n");
  EXPECT_EQ(body.find("here();"), loop + 16) << body;
}

TEST(FaultyPrinter, FailsWhereNothingMatches) {
  EXPECT_NONFATAL_FAILURE(printed({{"nowhere", "x"}}), "nothing in the text of doubled matches nowhere");
}

}  // namespace
}  // namespace assay::harness::testing
