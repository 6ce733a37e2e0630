#include "backends/ptx/execute/execution.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "backends/ptx/checks/data_flow.hpp"
#include "support/rng.hpp"

namespace assay::ptx {

namespace {

constexpr std::size_t kFrameAlignment = 64;
// The salt for the order of blocks; warps and lanes use the following numbers.
constexpr std::uint64_t kBlocksSalt = 1;
constexpr std::uint32_t kNoStop = 0xffffffff;

std::byte* aligned(std::byte* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return pointer + ((kFrameAlignment - address % kFrameAlignment) % kFrameAlignment);
}

std::uint32_t lanes_below(std::uint32_t count) { return count >= kLanesPerWarp ? kAllLanes : (1U << count) - 1; }

}  // namespace

Execution::Execution(Memory& memory, const Kernel& kernel, const LaunchGeometry& geometry,
                     std::vector<std::byte> parameters, const LaunchOptions& options)
    : memory_(memory),
      kernel_(kernel),
      geometry_(geometry),
      parameters_(std::move(parameters)),
      options_(options),
      threads_in_block_(static_cast<std::uint32_t>(geometry.block.count())),
      warp_execution_deltas_(kernel.ops.size() + 1),
      thread_execution_deltas_(kernel.ops.size() + 1),
      instructions_left_(options.instruction_limit) {
  if (options.counts_atomic_collisions) result_.profile.atomic_collision_count = 0;
  if (options.tables != nullptr) table_correction_.emplace(*options.tables, kernel);
  else if (options.functions_with_errors != 0) approximation_errors_.emplace(options.functions_with_errors);
  if (options.computes_unrounded_values) unrounded_plan_.emplace(kernel);
}

Execution::~Execution() = default;

RunResult Execution::run(std::span<const std::uint64_t> variables) {
  prepare(variables);
  advance_epoch();
  launch_start_epoch_ = kernel_start_epoch_ = current_epoch_;
  const auto run_block = [this](std::uint64_t block) {
    start_block(block);
    continue_block(true);
  };
  for (const std::uint64_t block : options_.blocks_to_run) {
    if (!is_stopped_) run_block(block);
  }
  const std::uint64_t blocks = options_.blocks_to_run.empty() ? geometry_.grid.count() : 0;
  const bool shuffled = options_.execution_order.order == Order::kShuffled;
  const std::vector<std::uint32_t> order = shuffled ? order_of(blocks, kBlocksSalt) : std::vector<std::uint32_t>{};
  const auto block_at = [&](std::uint64_t i) {
    return shuffled ? order[i] : options_.execution_order.order == Order::kReverse ? blocks - 1 - i : i;
  };
  if (geometry_.is_cooperative) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < blocks; ++i)
      all.push_back(block_at(i));
    run_cooperatively(all);
  } else {
    for (std::uint64_t i = 0; i < blocks && !is_stopped_; ++i)
      run_block(block_at(i));
  }
  if (options_.computes_profile) fill_profile();
  if (unrounded_plan_) unrounded_losses_.approximate_functions = executed_approximate_functions();
  result_.unrounded_losses = unrounded_losses_;
  return std::move(result_);
}

void Execution::prepare(std::span<const std::uint64_t> variables) {
  constants_storage_ = std::make_unique<std::byte[]>(kernel_.initial_constant_frame.size() + kFrameAlignment);
  constant_frame_ = aligned(constants_storage_.get());
  std::ranges::copy(kernel_.initial_constant_frame, constant_frame_);
  for (const Kernel::Relocation& relocation : kernel_.relocations) {
    const std::uint64_t address = variables[relocation.variable_index] + relocation.offset;
    for (unsigned i = 0; i < kLanesPerWarp; ++i)
      std::memcpy(constant_frame_ + relocation.constant_offset + std::size_t{i} * 8, &address, 8);
  }
  for (const Kernel::Variable& variable : kernel_.shared_variables) {
    const std::uint64_t bytes = variable.is_dynamically_sized ? geometry_.dynamic_shared_bytes : variable.bytes;
    shared_memory_by_variable_.emplace_back(bytes);
    shared_shadow_cells_by_variable_.emplace_back((bytes + 3) / 4);
    if (unrounded_plan_) shared_unrounded_words_by_variable_.emplace_back((bytes + 3) / 4 + 1);
  }
  orders_by_fences_ = kernel_.has_fences;
  warps_.resize((threads_in_block_ + kLanesPerWarp - 1) / kLanesPerWarp);
  if (geometry_.is_cooperative) prepare_grid_barrier();
  lane_order_ = order_of(kLanesPerWarp, kBlocksSalt + 1);
}

std::vector<std::uint32_t> Execution::order_of(std::size_t size, std::uint64_t salt) const {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  if (salt != kBlocksSalt && !options_.execution_order.reorders_within_blocks) return order;
  if (options_.execution_order.order == Order::kReverse) std::ranges::reverse(order);
  if (options_.execution_order.order == Order::kShuffled)
    Rng(options_.execution_order.shuffle_seed).split(salt).shuffle(order);
  return order;
}

void Execution::advance_epoch() {
  bool restarted = false;
  current_epoch_ = memory_.next_epoch(restarted);
  if (!restarted) return;
  kernel_start_epoch_ = launch_start_epoch_ = block_start_epoch_ = phase_start_epoch_ = partial_barrier_epoch_ =
      proxy_fence_epoch_ = current_epoch_;
  fence_order_.clear();
  tensor_map_fence_epochs_.clear();
  if (orders_by_fences_) fence_order_.start_block(current_epoch_, threads_in_block_);
  started_block_epochs_ = {{current_epoch_, current_block_index_}};
  partial_barrier_order_by_warp_.assign(warps_.size(), BarrierOrder(warps_.size()));
  arrival_order_by_barrier_.fill({});
  const auto forget = [](std::vector<std::vector<ShadowCell>>& cells_by_variable) {
    for (std::vector<ShadowCell>& cells : cells_by_variable)
      for (ShadowCell& cell : cells)
        cell.packed_last_write = cell.packed_last_read = 0;
  };
  forget(shared_shadow_cells_by_variable_);
  for (SuspendedBlock& block : suspended_blocks_)
    forget(block.shared_shadow_cells_by_variable);
  forget_tensor_accesses();
  for (Warp& warp : warps_)
    warp.last_synchronization_epoch = current_epoch_;
}

// ------------------------------------------------------------------------------------------------- blocks and warps

void Execution::start_block(std::uint64_t block) {
  current_block_index_ = block;
  arrived_thread_counts_.fill(0);
  arrival_order_by_barrier_.fill({});
  start_block_epoch();
  has_pending_words_ = false;
  mbarriers_.clear();
  // Warps that have not started count as threads that have not arrived at the barrier of the cluster.
  for (std::uint32_t i = 0; i < warps_.size(); ++i) {
    warps_[i].index_in_block = i;
    warps_[i].live_lane_mask = lanes_below(threads_in_block_ - i * kLanesPerWarp);
  }
  cluster_barrier_ = {};
  cluster_arrival_counts_.assign(std::size_t{kLanesPerWarp} * warps_.size(), 0);
  start_tensor_memory();
  has_new_phase_ = false;
  futile_wait_count_ = 0;
  clear_shared_memory();
}

void Execution::start_block_epoch() {
  partial_barrier_order_by_warp_.assign(warps_.size(), BarrierOrder(warps_.size()));
  advance_epoch();
  block_start_epoch_ = phase_start_epoch_ = partial_barrier_epoch_ = current_epoch_;
  started_block_epochs_.emplace_back(current_epoch_, current_block_index_);
  if (orders_by_fences_) fence_order_.start_block(current_epoch_, threads_in_block_);
}

void Execution::clear_shared_memory() {
  for (std::size_t i = 0; i < shared_memory_by_variable_.size(); ++i) {
    std::ranges::fill(shared_memory_by_variable_[i], std::byte{0});
    std::ranges::fill(shared_shadow_cells_by_variable_[i], ShadowCell{});
    for (std::uint64_t byte = shared_memory_by_variable_[i].size() - kernel_.shared_variables[i].padding_bytes;
         byte < shared_memory_by_variable_[i].size(); ++byte)
      shared_shadow_cells_by_variable_[i][byte / 4].packed_flags |= 1U << (byte % 4);
  }
  for (std::vector<UnroundedWord>& words : shared_unrounded_words_by_variable_)
    std::ranges::fill(words, UnroundedWord{});
}

bool Execution::continue_block(bool starts_warps) {
  const std::vector<std::uint32_t> order = order_of(warps_.size(), kBlocksSalt + 2 + current_block_index_);
  do {
    has_interrupted_warp_ = false;
    for (const std::uint32_t index : order) {
      Warp& warp = warps_[index];
      if (starts_warps) start_warp(warp, index);
      if (!warp.lane_groups.empty()) run_warp(warp);
      if (warp.lane_groups.empty() && warp.storage != nullptr) finish_warp(warp);
      if (is_stopped_) break;
    }
    starts_warps = false;
    if (!is_stopped_ && !has_interrupted_warp_ && waits_for_grid()) return false;
  } while (!is_stopped_ && (has_interrupted_warp_ || continue_waiting_warps()));
  for (Warp& warp : warps_) {
    if (warp.storage != nullptr) finish_warp(warp);
  }
  if (!is_stopped_) report_lost_tensor_memory();
  return true;
}

void Execution::start_warp(Warp& warp, std::uint32_t index) {
  if (frames_.empty()) {
    frames_.push_back(std::make_unique<std::byte[]>(kernel_.warp_frame_bytes + kFrameAlignment));
  }
  warp.storage = std::move(frames_.back());
  frames_.pop_back();
  warp.frames[0] = aligned(warp.storage.get());
  warp.frames[1] = constant_frame_;
  warp.index_in_block = index;
  warp.carry_flags = 0;
  if (!kernel_.async_copy_ops.empty() || !kernel_.bulk_copy_ops.empty() || !kernel_.mbarrier_ops.empty())
    warp.copies_by_lane.fill({});
  warp.result_correction = nullptr;
  if (table_correction_) warp.result_correction = &*table_correction_;
  if (approximation_errors_) warp.result_correction = &*approximation_errors_;
  warp.last_synchronization_epoch = current_epoch_;
  warp.live_lane_mask = lanes_below(threads_in_block_ - index * kLanesPerWarp);
  warp.undefined_values.clear();
  warp.products = {};
  warp.local_memory_words.resize(std::size_t{kernel_.local_word_count} * kLanesPerWarp);
  warp.written_local_byte_masks.assign(std::size_t{kernel_.local_word_count} * kLanesPerWarp, 0);
  warp.unwritten_copied_bytes.clear();
  if (unrounded_plan_) {
    warp.unrounded_registers.resize(unrounded_plan_->register_count());
    for (UnroundedRegister& each : warp.unrounded_registers)
      each.forget(kAllLanes);
    warp.unrounded_local_words.assign((std::size_t{kernel_.local_word_count} + 1) * kLanesPerWarp, {});
  }
  warp.lane_groups.assign(1, LaneGroup{.next_op_index = 0, .lane_mask = warp.live_lane_mask});
  set_special_registers(warp);
}

void Execution::finish_warp(Warp& warp) {
  if (!is_stopped_) report_early_uses(warp);
  if (!kernel_.bulk_copy_ops.empty() && !is_stopped_) {
    for (unsigned lane = 0; lane < kLanesPerWarp; ++lane) {
      for (const AsyncCopy& copy : warp.copies_by_lane[lane].pending_bulk)
        write_bulk_copy(warp, lane, copy);
    }
  }
  frames_.push_back(std::move(warp.storage));
  warp.lane_groups.clear();
}

void Execution::set_special_registers(Warp& warp) {
  if (kernel_.special_registers.empty()) return;
  const Dim3 size = geometry_.block;
  const std::uint64_t grid_barrier = grid_barrier_address_ == 0 ? 0 : grid_barrier_address_ - kGridBarrierOffset;
  const Dim3 block = block_position(current_block_index_);
  Dim3 thread = thread_position(warp.index_in_block * kLanesPerWarp);
  // Each cluster has one block.
  const std::uint32_t is_in_explicit_cluster = kernel_.entry_function->is_in_explicit_cluster ? 1 : 0;
  for (std::uint32_t lane = 0; lane < kLanesPerWarp; ++lane) {
    const std::uint32_t bit = 1U << lane;
    const std::uint32_t values[] = {thread.x,
                                    thread.y,
                                    thread.z,
                                    size.x,
                                    size.y,
                                    size.z,
                                    block.x,
                                    block.y,
                                    block.z,
                                    geometry_.grid.x,
                                    geometry_.grid.y,
                                    geometry_.grid.z,
                                    lane,
                                    warp.index_in_block,
                                    static_cast<std::uint32_t>(warps_.size()),
                                    bit,
                                    bit | (bit - 1),
                                    bit - 1,
                                    ~(bit - 1),
                                    ~(bit | (bit - 1)),
                                    kLanesPerWarp,
                                    static_cast<std::uint32_t>(grid_barrier >> 32U),
                                    static_cast<std::uint32_t>(grid_barrier),
                                    0,
                                    0,
                                    0,
                                    1,
                                    1,
                                    1,
                                    0,
                                    1,
                                    block.x,
                                    block.y,
                                    block.z,
                                    geometry_.grid.x,
                                    geometry_.grid.y,
                                    geometry_.grid.z,
                                    is_in_explicit_cluster};
    for (const Kernel::SpecialRegisterSlot& special : kernel_.special_registers)
      slot_words32(warp, special.slot)[lane] = values[static_cast<std::size_t>(special.special_register)];
    // The next thread of the block, without the divisions of thread_position.
    if (++thread.x < size.x) continue;
    thread.x = 0;
    if (++thread.y < size.y) continue;
    thread.y = 0;
    ++thread.z;
  }
}

/// Runs a warp until it ends or waits. After many instructions, the other warps of the block run, too, because the warp
/// may read memory in a loop until another warp has changed it.
void Execution::run_warp(Warp& warp) {
  constexpr std::uint64_t kTurnInstructions = std::uint64_t{1} << 20U;  // summed over threads
  const std::uint64_t left_at_end = instructions_left_ - std::min(instructions_left_, kTurnInstructions);
  while (!is_stopped_) {
    LaneGroup* const group = next_group(warp);
    if (group == nullptr) return;
    const auto number = static_cast<std::size_t>(group - warp.lane_groups.data());
    bool continues = true;
    while (continues && !is_stopped_) {
      continues = run_segment(warp, number);
      if (instructions_left_ <= left_at_end) {
        has_interrupted_warp_ = true;
        return;
      }
    }
  }
}

namespace {

/// Whether group a runs before group b if neither waits.
bool runs_before(const LaneGroup& a, const LaneGroup& b) {
  return a.return_addresses.size() != b.return_addresses.size() ? a.return_addresses.size() > b.return_addresses.size()
                                                                : a.next_op_index < b.next_op_index;
}

}  // namespace

/// The next group to run: among the groups with the deepest call stack, the one at the lowest instruction. Null if all
/// have ended or wait for a barrier. If all wait for lanes that cannot arrive, the lowest continues without them.
LaneGroup* Execution::next_group(Warp& warp) {
  merge(warp);
  LaneGroup* best = nullptr;
  LaneGroup* waiting = nullptr;
  bool waits_for_grid = false;
  for (LaneGroup& group : warp.lane_groups) {
    waits_for_grid |= group.waits_for == LaneGroup::Wait::kGrid;
    if (group.waits_for == LaneGroup::Wait::kNone && (best == nullptr || runs_before(group, *best))) best = &group;
    if (group.waits_for == LaneGroup::Wait::kWarp && (waiting == nullptr || runs_before(group, *waiting)))
      waiting = &group;
  }
  if (best != nullptr || waiting == nullptr || waits_for_grid) return best;
  waiting->waits_for = LaneGroup::Wait::kNone;
  waiting->runs_without_missing_lanes = true;
  return waiting;
}

/// Whether next_group() would choose the group again. It often would: lanes without an index wait at the end while the
/// others loop.
bool Execution::remains_next(const Warp& warp, std::size_t number) const {
  const LaneGroup& group = warp.lane_groups[number];
  return std::ranges::all_of(warp.lane_groups, [&](const LaneGroup& other) {
    if (&other == &group) return true;
    if (other.next_op_index == group.next_op_index) return false;  // they may be merged
    return other.waits_for != LaneGroup::Wait::kNone || runs_before(group, other);
  });
}

/// Merges groups at the same instruction. A merged group that waited for lanes checks again.
void Execution::merge(Warp& warp) {
  auto& groups = warp.lane_groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size();) {
      const bool same = groups[i].next_op_index == groups[j].next_op_index &&
                        groups[i].return_addresses == groups[j].return_addresses;
      if (!same) {
        ++j;
        continue;
      }
      groups[i].lane_mask |= groups[j].lane_mask;
      groups[i].waits_for = LaneGroup::Wait::kNone;
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

// ----------------------------------------------------------------------------------------------------- instructions

/// Runs a group up to and including the next instruction that is not a pure lane computation, or until it meets another
/// group. Returns false if another group may have to run.
bool Execution::run_segment(Warp& warp, std::size_t number) {
  LaneGroup& group = warp.lane_groups[number];
  std::uint32_t meeting = kNoStop;
  if (warp.lane_groups.size() > 1) {
    for (const LaneGroup& other : warp.lane_groups) {
      if (&other != &group && other.next_op_index > group.next_op_index)
        meeting = std::min(meeting, other.next_op_index);
    }
  }
  const Op* const ops = kernel_.ops.data();
  const std::uint32_t active = group.lane_mask;
  const std::uint32_t from = group.next_op_index;
  // Only instructions that end the segment make values undefined or registers pending.
  const bool follows_values = !warp.undefined_values.empty() || !warp.products.registers.empty();
  const bool computes_unrounded_values = unrounded_plan_.has_value();
  const bool only_computes = !follows_values && !computes_unrounded_values;
  const auto active_handler = active == kAllLanes ? &Op::full_warp_handler : &Op::masked_warp_handler;
  std::uint32_t next_op_index = from;
  while (next_op_index != meeting) {
    // Most instructions are computations without a guard. The last one of a kernel is not.
    while (only_computes && next_op_index != meeting && !ops[next_op_index].is_guarded &&
           ops[next_op_index].dispatch_kind == DispatchKind::kHandlerOnly) {
      (ops[next_op_index].*active_handler)(warp, ops[next_op_index], active);
      ++next_op_index;
    }
    if (next_op_index == meeting) break;
    const Op& op = ops[next_op_index];
    std::uint32_t lane_mask = active;
    if (op.is_guarded) {
      const std::uint32_t guard = *slot_words32(warp, op.guard);
      lane_mask &= op.is_guard_negated ? ~guard : guard;
    }
    if (follows_values) [[unlikely]] {
      if (!warp.undefined_values.empty()) follow_undefined_values(warp, op, active, lane_mask);
      if (!warp.products.registers.empty()) check_pending_registers(warp, op, lane_mask);
    }
    if (op.dispatch_kind == DispatchKind::kHandlerOnly) {
      if (computes_unrounded_values && lane_mask != 0) [[unlikely]] {
        execute_with_unrounded_values(warp, warp.unrounded_registers, *unrounded_plan_, op, next_op_index, lane_mask,
                                      unrounded_losses_);
      } else if (lane_mask == kAllLanes) {
        op.full_warp_handler(warp, op, lane_mask);
      } else if (lane_mask != 0) {
        op.masked_warp_handler(warp, op, lane_mask);
      }
    } else if (op.dispatch_kind == DispatchKind::kMemory) {
      if (grid_barrier_address_ != 0 && must_wait_for_grid(warp, group, op, lane_mask)) [[unlikely]] {
        count(from, next_op_index, active);
        group.next_op_index = next_op_index;
        return false;
      }
      if (lane_mask != 0) access(warp, op, lane_mask);
    } else {
      group.next_op_index = next_op_index;
      count(from, next_op_index + 1, active);
      return control(warp, number, next_op_index, lane_mask);
    }
    ++next_op_index;
  }
  count(from, next_op_index, active);
  group.next_op_index = next_op_index;
  return false;
}

void Execution::count(std::uint32_t from, std::uint32_t to, std::uint32_t lane_mask) {
  // Without the instruction popcnt, which not every processor has, std::popcount is a call.
  const unsigned leading = leading_lanes(lane_mask);
  const int lanes = leading != 0 ? static_cast<int>(leading) : std::popcount(lane_mask);
  ++warp_execution_deltas_[from];
  --warp_execution_deltas_[to];
  thread_execution_deltas_[from] += lanes;
  thread_execution_deltas_[to] -= lanes;
  const std::uint64_t spent = std::uint64_t{to - from} * static_cast<std::uint64_t>(lanes);
  if (spent > instructions_left_) {
    const Op& op = kernel_.ops[std::min<std::size_t>(to, kernel_.ops.size() - 1)];
    stop(RunResult::Status::kInstructionLimit,
         fmt::format("exceeded the limit of {} instructions, summed over threads", options_.instruction_limit), op);
  }
  instructions_left_ -= std::min(spent, instructions_left_);
}

// ---------------------------------------------------------------------------------------------------------- results

void Execution::stop(RunResult::Status status, std::string message, const Op& op) {
  if (is_stopped_) return;
  is_stopped_ = true;
  result_.status = status;
  result_.message = fmt::format("{}: {}", kernel_.entry_function->name, message);
  const Instruction& instruction = *op.instruction;
  if (instruction.position.line != 0)
    result_.message += fmt::format(", '{}' at PTX line {}", instruction.text, instruction.position.line);
  if (instruction.debug_location.line != 0)
    result_.message += fmt::format(", source line {}", instruction.debug_location.line);
}

ApproximateFunctionSet Execution::executed_approximate_functions() const {
  ApproximateFunctionSet functions = 0;
  std::int64_t warps = 0;
  for (std::size_t i = 0; i < kernel_.ops.size(); ++i) {
    warps += warp_execution_deltas_[i];
    if (warps == 0) continue;
    if (const auto function = approximate_function_of(*kernel_.ops[i].instruction)) functions |= 1U << *function;
  }
  return functions;
}

void Execution::fill_profile() {
  InstructionProfile& profile = result_.profile;
  std::int64_t warps = 0;
  std::int64_t threads = 0;
  std::vector<std::uint64_t> executed(kernel_.ops.size());
  std::vector<std::uint64_t> approximated(kernel_.ops.size());
  for (std::size_t i = 0; i < kernel_.ops.size(); ++i) {
    warps += warp_execution_deltas_[i];
    threads += thread_execution_deltas_[i];
    executed[i] = static_cast<std::uint64_t>(threads);
    const Op& op = kernel_.ops[i];
    // Moves that lowering inserted before or after an instruction are not counted as instructions.
    // So are the elements of an atomic on a vector after the first one.
    if (i > 0 && kernel_.ops[i - 1].instruction == op.instruction &&
        (op.dispatch_kind == DispatchKind::kHandlerOnly ||
         (op.dispatch_kind == DispatchKind::kMemory && kernel_.ops[i - 1].dispatch_kind == DispatchKind::kMemory)))
      continue;
    profile.warp_instruction_count += static_cast<std::uint64_t>(warps);
    const std::uint64_t covered_execution_count = table_correction_ ? table_correction_->covered_execution_count(i) : 0;
    if (op.exactness == Exactness::kApproximate) approximated[i] = executed[i] - covered_execution_count;
    profile.add(*op.instruction, op.exactness, executed[i], covered_execution_count);
  }
  profile.approximation_reaches_result =
      profile.approximate_instruction_count > 0 && approximation_reaches_result(kernel_, executed, approximated);
}

}  // namespace assay::ptx
