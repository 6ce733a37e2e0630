// One launch. Private to the machine: execution.cpp runs blocks and warps, control_flow.cpp moves lanes, accesses.cpp
// does memory, race_check.cpp judges accesses, warp_operations.cpp has what lanes do together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/execute/watch.hpp"

namespace assay::ptx {

/// Lanes of a warp at the same instruction, with the same callers.
struct Group {
  enum class Wait : std::uint8_t { kNone, kWarp, kBarrier };
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  Wait wait = Wait::kNone;  ///< kWarp: for other lanes of its warp; kBarrier: arrived at a barrier
  bool forced = false;      ///< nothing else can run: go on without the lanes that are missing
  std::vector<std::uint32_t> returns = {};
};

struct Warp : Lanes {
  std::uint32_t index = 0;
  std::uint32_t live = 0;          ///< lanes that have not left the kernel
  std::uint32_t synced_since = 0;  ///< stamp of the last synchronisation of the warp
  std::vector<Group> groups;
  std::unique_ptr<std::byte[]> storage;
  std::vector<std::uint32_t> local;         ///< word w of lane i at w * 32 + i
  std::vector<std::uint8_t> local_written;  ///< bytes of each of these words that were written
};

/// Answers from a device's tables, and how often there were none.
class TableCorrection final : public Correction {
 public:
  TableCorrection(const Tables& tables, const Kernel& kernel) : tables_(tables), kernel_(kernel) {}
  void apply(const Op& op, std::uint32_t mask, const std::byte* operands, std::byte* results) override;
  /// Thread-instructions of each op that a table answered.
  [[nodiscard]] std::uint64_t answered(std::size_t op) const { return op < answered_.size() ? answered_[op] : 0; }

 private:
  const Tables& tables_;
  const Kernel& kernel_;
  std::vector<std::uint64_t> answered_;
};

class Execution {
 public:
  Execution(Memory& memory, const Kernel& kernel, const Geometry& geometry, std::vector<std::byte> parameters,
            const LaunchOptions& options);
  /// `variables`: addresses of the module's variables.
  RunResult run(std::span<const std::uint64_t> variables);

 private:
  /// Where a lane's access goes; null when it must not happen.
  using Pointers = std::byte* [kLanes];
  using Addresses = std::uint64_t[kLanes];

  // execution.cpp
  void prepare(std::span<const std::uint64_t> variables);
  void run_block(std::uint64_t block);
  void start_warp(Warp& warp, std::uint32_t index);
  void set_specials(Warp& warp);
  void finish_warp(Warp& warp);
  void run_warp(Warp& warp);
  [[nodiscard]] Group* next_group(Warp& warp);
  bool run_segment(Warp& warp, std::size_t number);
  void merge(Warp& warp);
  void count(std::uint32_t from, std::uint32_t to, std::uint32_t mask);
  void stop(RunResult::Status status, std::string message, const Op& op);
  void fill_profile();
  void new_stamp();
  [[nodiscard]] std::vector<std::uint32_t> order_of(std::size_t size, std::uint64_t salt) const;

  // control_flow.cpp
  bool control(Warp& warp, std::size_t number, std::uint32_t& pc, std::uint32_t mask);
  void branch(Warp& warp, std::size_t number, std::uint32_t mask);
  static void copy_local(Warp& warp, std::span<const CallOp::Copy> copies, std::uint32_t mask);
  void call(Warp& warp, std::size_t number, std::uint32_t mask);
  void leave(Warp& warp, std::size_t number, std::uint32_t mask, bool exits);
  bool arrive(Warp& warp, std::size_t number, std::uint32_t mask);
  static constexpr std::uint32_t kBarriers = 16;
  struct Barrier {
    std::uint32_t number = 0;
    std::uint32_t count = 0;  ///< of threads that it waits for; 0: all of the block
  };
  /// Who waits at a barrier.
  struct Gathering {
    const Op* barrier = nullptr;  ///< null: nobody
    std::uint32_t thread = 0;     ///< the first
    std::uint32_t expected = 0;
    std::uint32_t threads = 0;
    std::uint32_t warps = 0;
    bool divergent = false;  ///< a part of a warp, or different counts
  };
  bool release_barrier();
  void order_participants(std::uint32_t number);
  Barrier barrier_of(Warp& warp, const Group& group);
  void gather(std::array<Gathering, kBarriers>& gatherings, Warp& warp, const Group& group);
  void reduce_at_barrier(const Op& op, std::uint32_t number);

  // accesses.cpp
  void access(Warp& warp, const Op& op, std::uint32_t mask);
  void access_space(Warp& warp, const Op& op, const MemoryOp& memory, Space space, std::uint32_t mask,
                    const Addresses& addresses);
  void access_global(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t mask, const Addresses& addresses);
  void access_shared(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t mask, const Addresses& addresses);
  void access_local(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t mask, const Addresses& addresses);
  void access_parameters(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t mask,
                         const Addresses& addresses);
  void transfer(Warp& warp, const MemoryOp& memory, std::uint32_t mask, const Pointers& pointers, bool is_global);
  [[nodiscard]] std::vector<bool> ops_whose_order_shows() const;
  void count_collisions(const Warp& warp, const Op& op, Space space, std::uint32_t mask, const Addresses& addresses);
  void count_global(const MemoryOp& memory, std::uint32_t mask, const Addresses& addresses, unsigned width);

  // race_check.cpp
  /// One lane's access, as the checks see it.
  struct Actor {
    const Op& op;
    const MemoryOp& memory;
    std::uint32_t thread;
    std::uint32_t warp_since;
    std::uint64_t address;
    Space space;
    bool initialised;  ///< the memory was before the launch
  };
  void check_access(const Watch& watch, Cell* cells, std::uint64_t offset, unsigned width, const Actor& actor);
  void check_cells(Cell* cells, std::uint64_t offset, unsigned width, const Actor& actor);
  void check_read(Cell& cell, std::uint32_t bytes, const Actor& actor);
  void check_write(Cell& cell, std::uint32_t bytes, const Actor& actor);
  [[nodiscard]] Watch watch_of(const Warp& warp, const MemoryOp& memory) const {
    return {memory, now_, {launch_since_, block_since_, phase_since_, std::max(warp.synced_since, part_since_)}};
  }
  [[nodiscard]] bool unordered(std::uint32_t earlier, const Actor& actor) const;
  void report(Finding::Kind kind, const Actor& actor, const std::uint32_t* other = nullptr, std::uint32_t number = 0);

  void add_finding(Finding::Kind kind, const Op& op, std::uint32_t thread, Space space = Space::kGeneric,
                   std::uint64_t address = 0, unsigned width = 0, std::optional<Site> other = std::nullopt);
  void locate(Finding& finding);
  [[nodiscard]] Site site_of(const Op* op, std::uint32_t thread, std::uint64_t block) const;
  [[nodiscard]] Dim3 thread_place(std::uint32_t thread) const;
  [[nodiscard]] Dim3 block_place(std::uint64_t block) const;

  // warp_operations.cpp
  void warp_operation(Warp& warp, const Op& op, std::uint32_t mask);
  void shuffle(Warp& warp, const Op& op, std::uint32_t mask);
  void match(Warp& warp, const Op& op, std::uint32_t mask);
  void reduce(Warp& warp, const Op& op, std::uint32_t mask);

  Memory& memory_;
  const Kernel& kernel_;
  const Geometry& geometry_;
  std::vector<std::byte> parameters_;
  const LaunchOptions& options_;
  RunResult result_;
  bool stopped_ = false;
  std::optional<TableCorrection> correction_;

  std::unique_ptr<std::byte[]> constants_storage_;
  std::byte* constants_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<std::byte[]>> frames_;  ///< of warps that have ended, for the next
  std::uint32_t threads_in_block_ = 0;
  std::array<std::uint32_t, kBarriers> arrived_{};  ///< threads that passed bar.arrive, by barrier
  /// What barriers of a part of the block ordered, by warp: accesses of each other warp with an earlier stamp than this
  /// came before what the warp does now. And the same for what comes behind a barrier, of warps that passed bar.arrive.
  using Behind = std::vector<std::uint32_t>;
  std::vector<Behind> behind_;
  std::array<Behind, kBarriers> announced_;
  std::uint64_t block_ = 0;
  std::vector<std::uint32_t> lane_order_;

  std::vector<std::vector<std::byte>> shared_;  ///< of the current block, by variable
  std::vector<std::vector<Cell>> shared_cells_;

  // Stamps: now, and since when the launch, the block and the phase between barriers have been running.
  std::uint32_t now_ = 0;
  std::uint32_t launch_since_ = 0;
  std::uint32_t block_since_ = 0;
  std::uint32_t phase_since_ = 0;
  std::uint32_t part_since_ = 0;  ///< since the last barrier of a part of the block
  std::vector<std::pair<std::uint32_t, std::uint64_t>> block_starts_;  ///< stamp and block

  std::vector<const Op*> op_of_number_;  ///< of memory instructions
  std::map<std::pair<Finding::Kind, const Op*>, std::size_t> known_findings_;
  std::vector<bool> order_shows_;                              ///< by op; empty where collisions are not counted
  std::unordered_map<std::uint64_t, std::uint64_t> first_at_;  ///< by address: the thread of the first such op
  // Differences: an instruction was executed as often as the sum of the entries up to it.
  std::vector<std::int64_t> warp_counts_;
  std::vector<std::int64_t> thread_counts_;
  std::uint64_t budget_ = 0;
};

/// One lane's access to checked memory: whole words are looked at quickly first.
inline void Execution::check_access(const Watch& watch, Cell* cells, std::uint64_t offset, unsigned width,
                                    const Actor& actor) {
  if (((offset | width) & 3U) != 0) return check_cells(cells, offset, width, actor);
  for (std::uint64_t at = offset; at < offset + width; at += 4) {
    Cell& cell = cells[at / 4];
    const bool fine = actor.memory.access == Access::kLoad ? watch.read(cell, 15, actor.thread, actor.initialised)
                                                           : watch.write(cell, 15, actor.thread, actor.initialised);
    if (!fine) check_cells(cells, at, 4, actor);
  }
}

inline std::uint32_t* word_slot(Lanes& lanes, Slot slot) {
  return reinterpret_cast<std::uint32_t*>(lanes.frames[slot.bits >> 31U] + (slot.bits & ~Slot::kConstant));
}
inline std::uint64_t* wide_slot(Lanes& lanes, Slot slot) {
  return reinterpret_cast<std::uint64_t*>(lanes.frames[slot.bits >> 31U] + (slot.bits & ~Slot::kConstant));
}
inline void set_predicate(Lanes& lanes, Slot slot, std::uint32_t value, std::uint32_t mask) {
  std::uint32_t& word = *word_slot(lanes, slot);
  word = (word & ~mask) | (value & mask);
}

}  // namespace assay::ptx
