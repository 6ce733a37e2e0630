#include "harness/mutation/fault_injection.hpp"

#include <chrono>
#include <set>

#include <fmt/format.h>

#include "backends/cpu/process.hpp"
#include "harness/records/record_reader.hpp"
#include "support/files.hpp"

namespace assay::mutation {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeLimit{5};
constexpr std::string_view kNoFault = "none";
constexpr std::string_view kPass = "pass";

/// The suite's verdict on a kernel: that of the first case that did not pass, with its message, or "pass".
struct Observed {
  std::string verdict{kPass};
  std::string message = {};
};

Observed first_other_than_pass(const std::vector<harness::CaseRecord>& cases) {
  for (const harness::CaseRecord& record : cases) {
    if (harness::is_pass(record.outcome)) continue;
    return {fmt::format("{}({})", harness::to_text(record.outcome), record.outcome_detail), record.message};
  }
  return {};
}

class FaultInjectionSuite {
 public:
  FaultInjectionSuite(fs::path program, fs::path dir, std::string compiler)
      : program_(std::move(program)), dir_(std::move(dir)), compiler_(std::move(compiler)) {}

  Result<Observed> judge(std::string_view fault, std::string_view selector) const {
    const fs::path output = dir_ / fault;
    std::vector<std::string> arguments = {
        std::string(fault), "run", std::string(selector), "--quick", "--reduce", "0", "--jobs", "1",
        "--output",         output};
    if (selector == kIdleKernelSelector) {
      arguments[2] = dir_ / std::string(selector);
      arguments.insert(arguments.end(), {"--pass", "forward"});
    }
    if (!compiler_.empty()) arguments.insert(arguments.end(), {"--cxx", compiler_});
    const cpu::ProcessResult ended = cpu::run_process(program_, arguments, kTimeLimit);
    if (ended.end_reason != cpu::ProcessResult::EndReason::kExited)
      return Error{"program did not finish; its output: " + ended.output, program_.string()};
    const Result<harness::RunRecords> run = harness::read_records(output);
    if (!run.ok()) return run.error();
    if (run->cases.empty()) return Error{fmt::format("no test case for '{}'", selector), program_.string()};
    return first_other_than_pass(run->cases);
  }

 private:
  fs::path program_, dir_;
  std::string compiler_;
};

/// Faults in the oracle must be detected by oracle_self_check: a failure attributed to the kernel is a false alarm.
bool is_noticed(const InjectedFault& injected_fault, const Observed& observed) {
  return injected_fault.component == FaultyComponent::kOracle ? observed.verdict == "internal_error(oracle)"
                                                              : observed.verdict != kPass;
}

Result<void> expect_without_fault(const FaultInjectionSuite& suite, std::string_view selector) {
  const Result<Observed> observed = suite.judge(kNoFault, selector);
  if (!observed.ok()) return observed.error();
  if ((observed->verdict == kPass) == (selector != kIdleKernelSelector)) return {};
  return Error{fmt::format("unexpected verdict {} without an injected fault: {}", observed->verdict, observed->message),
               std::string(selector)};
}

}  // namespace

Result<std::vector<FaultResult>> run_injected_faults(const fs::path& dir, const std::string& compiler,
                                                     const FaultCallback& take) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path() / "assay-faulty";
  if (!fs::exists(program, error)) return Error{"program does not exist; build all targets", program.string()};
  const fs::path runs = dir / "faults";
  if (const auto put = put_file(runs / "idle.py", kIdleKernelText); !put.ok()) return put.error();
  const FaultInjectionSuite suite(program, runs, compiler);
  std::set<std::string_view> sound;
  std::vector<FaultResult> results;
  for (const InjectedFault& injected_fault : kFaultInjectionEnabled) {
    if (sound.insert(injected_fault.selector).second) {
      const Result<void> expected = expect_without_fault(suite, injected_fault.selector);
      if (!expected.ok()) return expected.error();
    }
    const Result<Observed> observed = suite.judge(injected_fault.name, injected_fault.selector);
    if (!observed.ok()) return observed.error();
    results.push_back({injected_fault, is_noticed(injected_fault, *observed), observed->verdict});
    take(results.back());
  }
  return results;
}

}  // namespace assay::mutation
