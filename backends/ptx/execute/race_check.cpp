// Checks accesses against shadow memory and creates findings.
#include <algorithm>
#include <bit>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

namespace {

std::uint32_t stamp_of(std::uint32_t access) { return access >> 14U; }
std::uint32_t thread_of(std::uint32_t access) { return access >> 4U & (kMaxThreadsPerBlock - 1); }

}  // namespace

/// Checks every word of an access. `offset` is relative to the first cell.
void Execution::check_cells(ShadowCell* cells, std::uint64_t offset, unsigned width, const LaneAccess& actor) {
  for (unsigned done = 0; done < width;) {
    const auto begin = static_cast<unsigned>((offset + done) % 4);
    const unsigned size = std::min(4 - begin, width - done);
    const std::uint32_t bytes = ((1U << size) - 1) << begin;
    ShadowCell& cell = cells[(offset + done) / 4];
    if (actor.memory.access == Access::kLoad) {
      check_read(cell, bytes, actor);
    } else {
      check_write(cell, bytes, actor);
    }
    done += size;
  }
}

/// Whether an earlier access by another thread is unordered with this one.
bool Execution::is_unordered(std::uint32_t earlier, const LaneAccess& actor) const {
  const std::uint32_t stamp = stamp_of(earlier);
  if (stamp < launch_stamp_) return false;
  if (stamp < block_stamp_) return true;
  if (stamp < phase_stamp_) return false;
  const std::uint32_t thread = thread_of(earlier);
  if (thread == actor.thread) return false;
  const std::uint32_t warp = actor.thread / kLanesPerWarp;
  return thread / kLanesPerWarp != warp ? stamp >= barrier_order_[warp][thread / kLanesPerWarp]
                                        : stamp >= actor.warp_stamp;
}

void Execution::check_read(ShadowCell& cell, std::uint32_t bytes, const LaneAccess& actor) {
  const std::uint32_t self = current_stamp_ << 14U | actor.thread << 4U | bytes;
  const Checks& checks = options_.checks;
  if (checks.reports_uninitialized && !actor.initialized && (cell.packed_flags & bytes) != bytes) {
    report(CheckFinding::Kind::kUninitializedRead, actor);
  }
  const bool written = (cell.write & bytes) != 0;
  const bool atomically = (cell.packed_flags & kLastWriteIsAtomic) != 0;
  const std::uint32_t writer = cell.packed_flags >> 8U & kMaxMemoryOps;
  if (checks.reports_non_coherent && actor.memory.non_coherent && written && stamp_of(cell.write) >= launch_stamp_) {
    report(CheckFinding::Kind::kNonCoherentRead, actor, &cell.write, writer);
  } else if (checks.reports_races && written && is_unordered(cell.write, actor) &&
             !(atomically && actor.memory.is_strong)) {
    report(atomically ? CheckFinding::Kind::kAtomicRace : CheckFinding::Kind::kReadWriteRace, actor, &cell.write,
           writer);
  }
  if (actor.memory.is_strong || (cell.read == self && !actor.memory.non_coherent)) return;
  const std::uint32_t earlier = stamp_of(cell.read);
  // A cell stores one reader; the reader of other bytes is lost.
  const bool by_another = thread_of(cell.read) != actor.thread || earlier < block_stamp_;
  const bool apart = by_another && (cell.read & bytes) == 0;
  std::uint32_t kept = 0;
  if (earlier < launch_stamp_ || apart) {
    cell.packed_flags &= ~kReadFlags;
  } else if (is_unordered(cell.read, actor)) {
    cell.packed_flags |= earlier < block_stamp_ ? kReadByOtherBlock : kReadByManyThreads;
    kept = cell.read & 15U;
  } else if (earlier < std::max(phase_stamp_, partial_barrier_stamp_)) {
    cell.packed_flags &= ~kReadByManyThreads;
  } else {
    kept = cell.read & 15U;
  }
  if (actor.memory.non_coherent) cell.packed_flags |= kReadNonCoherent;
  cell.read = self | kept;
  cell.packed_flags = (cell.packed_flags & 0x000fffffU) | std::uint32_t{actor.memory.number} << 20U;
}

void Execution::check_write(ShadowCell& cell, std::uint32_t bytes, const LaneAccess& actor) {
  const Checks& checks = options_.checks;
  const bool atomic = actor.memory.access == Access::kAtomic;
  const bool strong = atomic || actor.memory.is_strong;
  const bool atomically = (cell.packed_flags & kLastWriteIsAtomic) != 0;
  if (checks.reports_uninitialized && atomic && !actor.initialized && (cell.packed_flags & bytes) != bytes) {
    report(CheckFinding::Kind::kUninitializedRead, actor);
  }
  const bool read = (cell.read & bytes) != 0 && stamp_of(cell.read) >= launch_stamp_;
  const std::uint32_t reader = cell.packed_flags >> 20U;
  const bool by_many = (cell.packed_flags & kReadByManyThreads) != 0 &&
                       stamp_of(cell.read) >= std::max(phase_stamp_, partial_barrier_stamp_);
  const bool overwrites = (cell.write & bytes) != 0 && is_unordered(cell.write, actor);
  if (checks.reports_non_coherent && read && (cell.packed_flags & kReadNonCoherent) != 0) {
    report(CheckFinding::Kind::kNonCoherentRead, actor, &cell.read, reader);
  } else if (checks.reports_races && overwrites && !(strong && atomically)) {
    report(atomic || atomically ? CheckFinding::Kind::kAtomicRace : CheckFinding::Kind::kWriteWriteRace, actor,
           &cell.write, cell.packed_flags >> 8U & kMaxMemoryOps);
  } else if (checks.reports_races && read &&
             (is_unordered(cell.read, actor) || by_many || (cell.packed_flags & kReadByOtherBlock) != 0)) {
    report(atomic ? CheckFinding::Kind::kAtomicRace : CheckFinding::Kind::kReadWriteRace, actor, &cell.read, reader);
  }
  const bool apart = thread_of(cell.write) != actor.thread && (cell.write & bytes) == 0;
  const bool goes_on = stamp_of(cell.write) >= phase_stamp_ && (cell.write & 15U) != 0 && !apart;
  // An earlier non-atomic write of this thread that is not ordered before this atomic still counts as non-atomic.
  const bool stays_plain = goes_on && !atomically && thread_of(cell.write) == actor.thread;
  cell.packed_flags = (cell.packed_flags & 0xfff000efU) | std::uint32_t{actor.memory.number} << 8U | bytes |
                      (strong && !stays_plain ? kLastWriteIsAtomic : 0U);
  cell.write = current_stamp_ << 14U | actor.thread << 4U | bytes | (goes_on ? cell.write & 15U : 0U);
}

void Execution::report(CheckFinding::Kind kind, const LaneAccess& actor, const std::uint32_t* other,
                       std::uint32_t number) {
  std::optional<Site> site;
  if (other != nullptr) {
    const auto after = std::ranges::upper_bound(block_start_stamps_, stamp_of(*other), {},
                                                [](const auto& start) { return start.first; });
    const std::uint64_t block = after == block_start_stamps_.begin() ? current_block_ : std::prev(after)->second;
    site = site_of(memory_op_by_number_[number], thread_of(*other), block);
  }
  const unsigned width = bytes_of(actor.memory.type) * actor.memory.elements;
  add_finding(kind, actor.op, actor.thread, actor.space, actor.address, width, std::move(site));
}

void Execution::add_finding(CheckFinding::Kind kind, const Op& op, std::uint32_t thread, Space space,
                            std::uint64_t address, unsigned width, std::optional<Site> other) {
  const auto [known, added] = known_findings_.try_emplace({kind, &op}, result_.findings.size());
  if (!added) {
    ++result_.findings[known->second].count;
    return;
  }
  CheckFinding finding{.kind = kind,
                       .kernel = kernel_.function->name,
                       .site = site_of(&op, thread, current_block_),
                       .other = std::move(other),
                       .space = space,
                       .address = address,
                       .access_bytes = width};
  if (width != 0) locate(finding);
  result_.findings.push_back(std::move(finding));
  if (result_.findings.size() >= options_.max_findings) {
    stop(RunResult::Status::kFindingLimit, "reached the maximum number of findings", op);
  }
}

/// Determines the allocation in whose window the address lies.
void Execution::locate(CheckFinding& finding) {
  const auto in = [&](std::string_view name, std::uint64_t bytes, std::uint64_t first) {
    finding.allocation = std::string(name);
    finding.allocation_bytes = bytes;
    finding.offset = static_cast<std::int64_t>(finding.address - first);
  };
  if (finding.space == Space::kShared) {
    const std::uint64_t variable = (finding.address >> kSharedBits) - 1;
    if (variable < kernel_.shared_variables.size()) {
      in(kernel_.shared_variables[variable].name, shared_memory_[variable].size(),
         ((variable + 1) << kSharedBits) + kSharedMiddle);
    }
  } else if (finding.space == Space::kLocal) {
    const std::uint64_t variable = finding.address >> kLocalBits;
    if (variable < kernel_.local_variables.size()) {
      in(kernel_.local_variables[variable].name, kernel_.local_variables[variable].bytes,
         (variable << kLocalBits) + kLocalMiddle);
    }
  } else if (finding.space == Space::kParam) {
    in("parameters", parameters_.size(), 0);
  } else if (const Allocation* allocation = memory_.find_allocation(finding.address)) {
    in(allocation->name, allocation->bytes.size(),
       (finding.address >> kAddressWindowBits << kAddressWindowBits) + kAddressWindowMiddle);
  }
}

Site Execution::site_of(const Op* op, std::uint32_t thread, std::uint64_t block) const {
  Site site{.thread = thread_position(thread), .block = block_position(block)};
  if (op != nullptr) {
    site.line = op->instruction->position.line;
    site.source = op->instruction->source;
    site.text = std::string(op->instruction->text);
  }
  return site;
}

Dim3 Execution::thread_position(std::uint32_t thread) const {
  const Dim3& block = geometry_.block;
  return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

Dim3 Execution::block_position(std::uint64_t block) const {
  const Dim3& grid = geometry_.grid;
  return {static_cast<std::uint32_t>(block % grid.x), static_cast<std::uint32_t>(block / grid.x % grid.y),
          static_cast<std::uint32_t>(block / grid.x / grid.y)};
}

}  // namespace assay::ptx
