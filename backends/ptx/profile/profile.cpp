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
  thread_instruction_count += threads;
  thread_instructions_by_category[static_cast<std::size_t>(instruction.category)] += threads;
  if (instruction.category == InstructionCategory::kFloat ||
      instruction.category == InstructionCategory::kSpecialFunction) {
    flop_count += threads * (instruction.opcode == Opcode::kFma ? 2 : 1);
  }
  if (instruction.opcode == Opcode::kMma || instruction.opcode == Opcode::kWmmaMma) {
    if (const auto shape = find_matrix_shape(instruction.modifiers); shape && is_float(instruction.type))
      flop_count += threads * 2 * shape->m * shape->n * shape->k / kLanesPerWarp;
  }
  if (instruction.opcode == Opcode::kWgmma && is_float(instruction.type)) {
    const MatrixShape& shape = instruction.warpgroup_shape;
    constexpr unsigned kThreadsPerWarpgroup = 128;
    flop_count += threads * 2 * shape.m * shape.n * shape.k / kThreadsPerWarpgroup;
  }
  switch (exactness) {
    case Exactness::kExact: exact_instruction_count += threads; break;
    case Exactness::kApproximate:
      approximate_instruction_count += threads - answered;
      exact_instruction_count += answered;
      break;
    case Exactness::kOrderDependent: order_dependent_instruction_count += threads; break;
    case Exactness::kContractible: contractible_instruction_count += threads; break;
  }
}

double InstructionProfile::lane_efficiency() const {
  return ratio(thread_instruction_count, warp_instruction_count * 32);
}
double InstructionProfile::sectors_per_access() const { return ratio(accessed_sector_count, global_access_count); }
double InstructionProfile::atomic_contention() const {
  return ratio(atomic_operation_count, distinct_atomic_address_count);
}
double InstructionProfile::arithmetic_intensity() const { return ratio(flop_count, global_bytes); }

std::map<std::string, double> measures_of(const InstructionProfile& profile) {
  std::map<std::string, double> measures{
      {"thread_instructions", static_cast<double>(profile.thread_instruction_count)},
      {"warp_instructions", static_cast<double>(profile.warp_instruction_count)},
      {"lane_efficiency", profile.lane_efficiency()},
      {"global_accesses", static_cast<double>(profile.global_access_count)},
      {"global_bytes", static_cast<double>(profile.global_bytes)},
      {"sectors_per_access", profile.sectors_per_access()},
      {"flops", static_cast<double>(profile.flop_count)},
      {"arithmetic_intensity", profile.arithmetic_intensity()},
      {"atomics", static_cast<double>(profile.atomic_operation_count)},
      {"atomic_contention", profile.atomic_contention()},
      {"barriers", static_cast<double>(profile.barrier_instruction_count)},
      {"divergent_branches", static_cast<double>(profile.divergent_branch_count)},
  };
  if (profile.atomic_collision_count)
    measures.emplace("atomic_collisions", static_cast<double>(*profile.atomic_collision_count));
  for (std::size_t i = 0; i < kInstructionCategoryCount; ++i) {
    measures.emplace(fmt::format("mix_{}", to_text(static_cast<InstructionCategory>(i))),
                     ratio(profile.thread_instructions_by_category[i], profile.thread_instruction_count));
  }
  return measures;
}

std::string exactness_line(const InstructionProfile& profile) {
  return fmt::format("{} instructions: {} exact, {} approximate, {} order-dependent, {} contractible; {}",
                     profile.thread_instruction_count, profile.exact_instruction_count,
                     profile.approximate_instruction_count, profile.order_dependent_instruction_count,
                     profile.contractible_instruction_count,
                     profile.approximation_reaches_result ? "approximations affect the result"
                                                          : "no approximation affects the result");
}

}  // namespace assay::ptx
