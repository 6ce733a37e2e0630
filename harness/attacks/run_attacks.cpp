#include "harness/attacks/run_attacks.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "frontend/warp/parse/reader.hpp"
#include "harness/attacks/injection.hpp"
#include "harness/attacks/surroundings.hpp"
#include "harness/suite/run/batch.hpp"

namespace assay::attacks {

using harness::CaseRecord;
using harness::KernelSource;

namespace {

constexpr std::size_t kBatch = 30;
constexpr const char* kKernel = R"(import warp as wp

@wp.kernel
def {}(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) + 0.75 * x[i] * y[i]
)";

Result<KernelSource> kernel_named(const std::string& name) {
  const std::string text = fmt::format(kKernel, name);
  Result<frontend::ParsedFile> read = frontend::parse_python(text, name + ".py");
  if (!read.ok()) return read.error();
  return KernelSource{.family = "attack",
                      .kernel = name,
                      .module = std::make_shared<const ir::Module>(std::move(read->module)),
                      .file = name + ".py",
                      .python = text};
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// The text with its placeholders replaced.
std::string with_placeholders_replaced(std::string text, const ProtectedEnvironment& surroundings) {
  text = replaced(std::move(text), "@FOLDER@", surroundings.bystanders());
  text = replaced(std::move(text), "@PARENT@", std::to_string(::getpid()));
  return replaced(std::move(text), "@PORT@", std::to_string(surroundings.port()));
}

Result<void> inject_attack(backends::EmittedKernel& kernel, const Attack& attack,
                           const ProtectedEnvironment& surroundings) {
  std::istringstream headers(attack.includes);
  for (std::string header; headers >> header;)
    kernel.helpers.insert(kernel.helpers.begin(), {header, fmt::format("#include <{}>\n", header)});
  const Result<void> declared =
      inject_code(kernel, after_real(with_placeholders_replaced(attack.declarations, surroundings)));
  if (!declared.ok()) return declared;
  return inject_code(kernel, at_thread_start(attack.pass, with_placeholders_replaced(attack.statements, surroundings)));
}

bool is_protected(const Attack& attack, const AttackOptions& options) {
  if (attack.required_protection == Protection::kSystemCallFilter) return options.filters_system_calls;
  return attack.required_protection != Protection::kFileAccessRules || options.restricts_file_access;
}

/// One run of the attack set.
class Campaign {
 public:
  Campaign(const std::vector<Attack>& attacks, const harness::Printer& printer, const AttackOptions& options,
           ProtectedEnvironment& surroundings)
      : attacks_(attacks), printer_(printer), options_(options), surroundings_(surroundings) {}

  Result<AttackReport> run(backends::Device& device) {
    for (const backends::Pass pass : {backends::Pass::kForward, backends::Pass::kBackward}) {
      if (auto done = run(pass, device); !done.ok()) return done.error();
    }
    // In the order of the set, not of the batches.
    std::ranges::sort(report_.results, {}, [this](const AttackResult& result) { return find(result.attack.name); });
    return std::move(report_);
  }

 private:
  /// Runs the attacks on one pass.
  Result<void> run(backends::Pass pass, backends::Device& device) {
    std::vector<std::string> batch;
    const auto judge_batch = [&]() -> Result<void> {
      if (batch.empty()) return {};
      batch.insert(batch.begin(), fmt::format("neighbour_{}", report_.correct_kernel_records.size()));
      batch.push_back(fmt::format("neighbour_{}", report_.correct_kernel_records.size() + 1));
      return judge(std::exchange(batch, {}), pass, device);
    };
    for (const Attack& attack : attacks_) {
      if (attack.pass != pass) continue;
      if (!is_protected(attack, options_)) {
        take({.attack = attack, .is_skipped = true});
      } else if (attack.runs_when_loaded) {
        // Judged alone: in a batch it would make every other kernel be rebuilt until it is isolated.
        if (auto done = judge({attack.name}, pass, device); !done.ok()) return done;
      } else {
        batch.push_back(attack.name);
      }
      if (batch.size() < kBatch) continue;
      if (auto done = judge_batch(); !done.ok()) return done;
    }
    return judge_batch();
  }

  Result<void> judge(const std::vector<std::string>& names, backends::Pass pass, backends::Device& device) {
    std::vector<KernelSource> sources;
    for (const std::string& name : names) {
      Result<KernelSource> source = kernel_named(name);
      if (!source.ok()) return source.error();
      sources.push_back(source.take());
    }
    const harness::RunOptions run{.backward = pass == backends::Pass::kBackward,
                                  .seed = options_.seed,
                                  .policy = options_.policy,
                                  .time_limit = options_.time_limit};
    const auto printer = [this](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                                backends::SourceTarget target) { return print(module, forward, backward, target); };
    harness::run_batch(sources, device, printer, run, [this](CaseRecord record) { take(std::move(record)); });
    return {};
  }

  Result<backends::EmittedKernel> print(const ir::Module& module, const ir::Function& forward,
                                        const ir::Function* backward, backends::SourceTarget target) const {
    Result<backends::EmittedKernel> emitted = printer_(module, forward, backward, target);
    const Attack* const attack = find(forward.name);
    if (!emitted.ok() || attack == nullptr || target != backends::SourceTarget::kCpp) return emitted;
    if (auto injected = inject_attack(*emitted, *attack, surroundings_); !injected.ok()) return injected.error();
    return emitted;
  }

  const Attack* find(const std::string& name) const {
    const auto found = std::ranges::find(attacks_, name, &Attack::name);
    return found == attacks_.end() ? nullptr : &*found;
  }

  void take(CaseRecord record) {
    const Attack* const attack = find(record.kernel);
    if (attack == nullptr) {
      report_.correct_kernel_records.push_back(std::move(record));
    } else if (record.pass != backends::to_text(attack->pass)) {
      // The record of the attacked pass follows next: both passes are judged before the first record arrives.
      forward_ = std::move(record);
    } else {
      take({.attack = *attack,
            .record = std::move(record),
            .forward_record = std::exchange(forward_, std::nullopt),
            .damage_reports = surroundings_.find_damage()});
    }
  }

  void take(AttackResult result) {
    if (options_.on_result) options_.on_result(result);
    report_.results.push_back(std::move(result));
  }

  const std::vector<Attack>& attacks_;
  const harness::Printer& printer_;
  const AttackOptions& options_;
  ProtectedEnvironment& surroundings_;
  AttackReport report_;
  std::optional<CaseRecord> forward_;  ///< of the attack whose record in the backward pass comes next
};

}  // namespace

bool AttackResult::is_caught() const {
  const bool original_passes =
      attack.pass == backends::Pass::kForward || (forward_record.has_value() && is_pass(forward_record->outcome));
  return damage_reports.empty() && original_passes &&
         std::ranges::any_of(attack.allowed_outcomes, [this](const AllowedOutcome& ending) {
           return record.outcome == ending.outcome && record.outcome_detail == ending.outcome_detail;
         });
}

bool AttackReport::all_caught() const {
  return leftover_resources.empty() &&
         std::ranges::all_of(results,
                             [](const AttackResult& result) { return result.is_skipped || result.is_caught(); }) &&
         std::ranges::all_of(correct_kernel_records, [](const CaseRecord& record) { return is_pass(record.outcome); });
}

Result<AttackReport> run_attacks(const std::vector<Attack>& attacks, const MakeDevice& make_device,
                                 const harness::Printer& printer, const AttackOptions& options) {
  auto surroundings = ProtectedEnvironment::prepare();
  if (!surroundings.ok()) return surroundings.error();
  Result<AttackReport> report = [&] {
    const std::unique_ptr<backends::Device> device = make_device((*surroundings)->run_folder());
    return Campaign(attacks, printer, options, **surroundings).run(*device);
  }();
  if (report.ok()) report->leftover_resources = (*surroundings)->leftover_resources();
  return report;
}

}  // namespace assay::attacks
