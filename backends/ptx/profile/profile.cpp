#include "backends/ptx/profile/profile.hpp"

#include <fmt/format.h>

namespace assay::ptx {

namespace {

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

void InstructionProfile::add(const Instruction& instruction, Exactness exactness, std::uint64_t threads,
                             std::uint64_t answered) {
  thread_instructions += threads;
  instruction_mix[static_cast<std::size_t>(instruction.category)] += threads;
  if (instruction.category == Category::kFloat || instruction.category == Category::kSpecial) {
    flops += threads * (instruction.opcode == Opcode::kFma ? 2 : 1);
  }
  switch (exactness) {
    case Exactness::kExact: exact_count += threads; break;
    case Exactness::kApproximate:
      approximate_count += threads - answered;
      exact_count += answered;
      break;
    case Exactness::kOrderDependent: order_dependent_count += threads; break;
    case Exactness::kContractible: contractible_count += threads; break;
  }
}

double InstructionProfile::lane_efficiency() const { return ratio(thread_instructions, warp_instructions * 32); }
double InstructionProfile::sectors_per_access() const { return ratio(sectors, global_accesses); }
double InstructionProfile::atomic_contention() const { return ratio(atomics, atomic_addresses); }
double InstructionProfile::arithmetic_intensity() const { return ratio(flops, global_bytes); }

std::map<std::string, double> measures_of(const InstructionProfile& profile) {
  std::map<std::string, double> measures{
      {"thread_instructions", static_cast<double>(profile.thread_instructions)},
      {"warp_instructions", static_cast<double>(profile.warp_instructions)},
      {"lane_efficiency", profile.lane_efficiency()},
      {"global_accesses", static_cast<double>(profile.global_accesses)},
      {"global_bytes", static_cast<double>(profile.global_bytes)},
      {"sectors_per_access", profile.sectors_per_access()},
      {"flops", static_cast<double>(profile.flops)},
      {"arithmetic_intensity", profile.arithmetic_intensity()},
      {"atomics", static_cast<double>(profile.atomics)},
      {"atomic_contention", profile.atomic_contention()},
      {"barriers", static_cast<double>(profile.barriers)},
      {"divergent_branches", static_cast<double>(profile.divergent_branches)},
  };
  if (profile.atomic_collisions) measures.emplace("atomic_collisions", static_cast<double>(*profile.atomic_collisions));
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    measures.emplace(fmt::format("mix_{}", to_text(static_cast<Category>(i))),
                     ratio(profile.instruction_mix[i], profile.thread_instructions));
  }
  return measures;
}

std::string exactness_line(const InstructionProfile& profile) {
  return fmt::format("{} instructions: {} exact, {} approximate, {} order-dependent, {} contractible; {}",
                     profile.thread_instructions, profile.exact_count, profile.approximate_count,
                     profile.order_dependent_count, profile.contractible_count,
                     profile.approximation_reaches_result ? "approximations affect the result"
                                                          : "no approximation affects the result");
}

}  // namespace assay::ptx
