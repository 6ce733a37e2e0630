// The attack set on the CPU device, confined and unconfined: no attack passes, and none damages its surroundings.

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/device.hpp"
#include "backends/source/print.hpp"
#include "harness/attacks/run_attacks.hpp"

namespace assay::attacks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MakeDevice cpu_device(bool confine) {
  return [confine](const std::filesystem::path& folder) {
    return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.worker_executable = ASSAY_WORKER,
                                                            .cache_directory = folder,
                                                            .uses_build_cache = false,
                                                            .confine_worker = confine});
  };
}

AttackReport run(const std::vector<Attack>& attacks, bool confine, const AttackOptions& options) {
  const auto printer = [](const ir::Module& module, const ir::Function& forward, const ir::Function* backward,
                          backends::SourceTarget target) { return source::print(module, forward, backward, target); };
  Result<AttackReport> report = run_attacks(attacks, cpu_device(confine), printer, options);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return report.take();
}

std::vector<Attack> named(const std::set<std::string>& names) {
  std::vector<Attack> attacks = attack_set();
  std::erase_if(attacks, [&](const Attack& attack) { return !names.contains(attack.name); });
  EXPECT_EQ(attacks.size(), names.size());
  return attacks;
}

/// The confinement that this system supports.
AttackOptions as_found() {
  cpu::CpuDevice device({.worker_executable = ASSAY_WORKER, .uses_build_cache = false});
  const Result<worker::Confinement> confinement = device.probe_confinement();
  EXPECT_TRUE(confinement.ok()) << confinement.error().text();
  return {.filters_system_calls = confinement->system_call_filter_error == 0,
          .restricts_file_access = confinement->file_restriction_error == 0};
}

void expect_all_caught(const AttackReport& report) {
  for (const AttackResult& result : report.results) {
    if (result.is_skipped) continue;
    EXPECT_FALSE(is_pass(result.record.outcome)) << result.attack.name;
    EXPECT_TRUE(result.is_caught()) << result.attack.name << ": " << to_text(result.record.outcome) << "("
                                    << result.record.outcome_detail << ") " << result.record.message
                                    << result.record.log;
    EXPECT_THAT(result.damage_reports, IsEmpty()) << result.attack.name;
  }
  EXPECT_FALSE(report.correct_kernel_records.empty());
  for (const harness::CaseRecord& record : report.correct_kernel_records)
    EXPECT_TRUE(is_pass(record.outcome)) << record.name << ": " << record.message;
  EXPECT_THAT(report.leftover_resources, IsEmpty());
  EXPECT_TRUE(report.all_caught());
}

TEST(AttackSet, NamesAreUniqueAndNoAttackMayEndWithOutcomePass) {
  std::set<std::string> names;
  for (const Attack& attack : attack_set()) {
    EXPECT_TRUE(names.insert(attack.name).second) << attack.name;
    EXPECT_FALSE(attack.allowed_outcomes.empty()) << attack.name;
    for (const AllowedOutcome& ending : attack.allowed_outcomes)
      EXPECT_FALSE(is_pass(ending.outcome)) << attack.name;
  }
}

TEST(AttackSet, AboutHalfOfAttacksAreInBackwardPass) {
  const std::vector<Attack> attacks = attack_set();
  const auto in_backward = std::ranges::count(attacks, backends::Pass::kBackward, &Attack::pass);
  EXPECT_GE(in_backward, std::ssize(attacks) / 2 - 3) << "about half of the attacks must be in the backward pass";
}

TEST(Attacks, ConfinedRunCatchesAllAttacks) {
  const AttackReport report = run(attack_set(), true, as_found());
  EXPECT_EQ(report.results.size(), attack_set().size());
  expect_all_caught(report);
}

TEST(Attacks, UnconfinedRunSkipsAttacksThatOnlyConfinementStops) {
  const AttackReport report = run(attack_set(), false, {.filters_system_calls = false, .restricts_file_access = false});
  for (const AttackResult& result : report.results)
    EXPECT_EQ(result.is_skipped, result.attack.required_protection == Protection::kSystemCallFilter ||
                                     result.attack.required_protection == Protection::kFileAccessRules);
  expect_all_caught(report);
}

// Without confinement these attacks succeed, and their damage is detected.
TEST(Attacks, UnconfinedRunReportsDamageOfAttacks) {
  const AttackReport report = run(named({"writes_a_file", "overwrites_a_file", "deletes_a_file", "makes_a_folder",
                                         "shuts_a_folder", "connects", "sends_a_datagram", "forks_and_stays"}),
                                  false, {});
  for (const AttackResult& result : report.results) {
    EXPECT_FALSE(result.is_caught()) << result.attack.name;
    EXPECT_EQ(result.damage_reports.size(), result.attack.name == "forks_and_stays" ? 0U : 1U) << result.attack.name;
  }
  EXPECT_THAT(report.leftover_resources, Contains(HasSubstr("outlived its worker")));
  EXPECT_FALSE(report.all_caught());
}

TEST(Attacks, FailureOfForwardPassDoesNotCountAsCatchingABackwardAttack) {
  std::vector<Attack> attacks = named({"leaves_gradients"});
  EXPECT_TRUE(run(attacks, true, {}).results.at(0).is_caught());
  attacks[0].declarations = "#define sin cos";
  const AttackReport report = run(attacks, true, {});
  EXPECT_EQ(report.results.at(0).record.outcome, harness::Outcome::fail);
  EXPECT_FALSE(report.results.at(0).is_caught());
}

TEST(Attacks, AttackThatFailsToBuildDoesNotCountAsCaught) {
  const AttackReport report = run({{.name = "wrong",
                                    .behavior = "does not compile",
                                    .required_protection = Protection::kResultComparison,
                                    .allowed_outcomes = {{harness::Outcome::fail, "mismatch"}},
                                    .statements = "not C++;"}},
                                  true, {});
  EXPECT_FALSE(report.results.at(0).is_caught());
  EXPECT_EQ(report.results.at(0).record.outcome, harness::Outcome::build_failed);
}

}  // namespace
}  // namespace assay::attacks
