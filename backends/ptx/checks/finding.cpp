#include "backends/ptx/checks/finding.hpp"

#include <array>

#include <fmt/format.h>

namespace assay::ptx {

namespace {

constexpr std::array<std::string_view, 13> kKinds = {
    "out_of_bounds",   "local_atomic", "misaligned",        "uninitialised_read", "write_write_race",
    "read_write_race", "atomic_race",  "read_only_write",   "non_coherent_read",  "barrier_divergence",
    "inactive_lane",   "not_freed",    "instruction_budget"};

std::string text_of(const InstructionSite& site) {
  std::string source = site.source_location.line == 0 ? "" : fmt::format(", source line {}", site.source_location.line);
  if (site.source_location.inlined_call_line != 0)
    source += fmt::format(" inlined at {}", site.source_location.inlined_call_line);
  const std::string_view state = site.is_pending_copy     ? ", which its thread has not waited for,"
                                 : site.lacks_proxy_fence ? ", which no fence.proxy.async follows,"
                                 : site.lacks_tensor_map_fence
                                     ? ", which no fence.proxy.tensormap of the block follows,"
                                     : "";
  return fmt::format("'{}' (PTX line {}{}){} in thread ({}, {}, {}) of block ({}, {}, {})", site.instruction_text,
                     site.ptx_line, source, state, site.thread.x, site.thread.y, site.thread.z, site.block.x,
                     site.block.y, site.block.z);
}

bool is_asynchronous(const InstructionSite& site) {
  return site.is_pending_copy || site.lacks_proxy_fence || site.lacks_tensor_map_fence;
}

/// What would order the two accesses of a race in shared memory; empty for other findings.
std::string advice_of(const CheckFinding& finding) {
  const bool is_race = finding.kind == CheckFinding::Kind::kReadWriteRace ||
                       finding.kind == CheckFinding::Kind::kWriteWriteRace ||
                       finding.kind == CheckFinding::Kind::kAtomicRace;
  if (!is_race || finding.space != Space::kShared || !finding.conflicting_access || is_asynchronous(finding.site) ||
      is_asynchronous(*finding.conflicting_access))
    return "";
  const auto line_of = [](const InstructionSite& site) {
    const DebugLocation& location = site.source_location;
    return location.inlined_call_line != 0 ? location.inlined_call_line : location.line;
  };
  const auto earlier = line_of(*finding.conflicting_access), later = line_of(finding.site);
  if (earlier == 0 || later == 0 || earlier == later)
    return "; __syncthreads(), or __syncwarp() within a warp, between the two accesses would order them";
  return fmt::format(
      "; __syncthreads(), or __syncwarp() within a warp, between source lines {} and {} would order the "
      "accesses",
      earlier, later);
}

}  // namespace

std::string_view to_text(CheckFinding::Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string describe(const CheckFinding& finding) {
  std::string text = fmt::format("{} in {}: {}", to_text(finding.kind), finding.kernel, text_of(finding.site));
  if (finding.space == Space::kTensor) {
    text += fmt::format(", lane {} and column {} of tensor memory", finding.address >> 16U, finding.address & 0xffffU);
    if (finding.allocation_name.empty()) text += ", which is not allocated";
    else if (finding.kind == CheckFinding::Kind::kOutOfBounds)
      text += "; the warp can access only its quarter of the lanes";
  } else if (finding.access_bytes != 0) {
    text +=
        fmt::format(", {} bytes at {} address 0x{:x}", finding.access_bytes, to_text(finding.space), finding.address);
    text += finding.allocation_name.empty() ? ", which is not allocated"
                                            : fmt::format(", offset {} of '{}', which has {} bytes", finding.offset,
                                                          finding.allocation_name, finding.allocation_bytes);
  }
  if (finding.conflicting_access) {
    const std::string_view relation =
        finding.kind == CheckFinding::Kind::kInactiveLane ? "its undefined result is used by" : "conflicts with";
    text += fmt::format("; {} {}", relation, text_of(*finding.conflicting_access));
  }
  if (finding.count > 1) text += fmt::format("; {} times", finding.count);
  return text + advice_of(finding);
}

}  // namespace assay::ptx
