#include "backends/ptx/profile.hpp"

#include <fmt/format.h>

namespace assay::ptx {

namespace {

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

double Profile::lane_efficiency() const { return ratio(thread_instructions, warp_instructions * 32); }
double Profile::sectors_per_access() const { return ratio(sectors, global_accesses); }
double Profile::atomic_contention() const { return ratio(atomics, atomic_addresses); }
double Profile::arithmetic_intensity() const { return ratio(flops, global_bytes); }

std::string fidelity_line(const Profile& profile) {
  return fmt::format("{} instructions: {} exact, {} approximate, {} order-dependent, {} contractible",
                     profile.thread_instructions, profile.exact, profile.approximate, profile.order_dependent,
                     profile.contractible);
}

}  // namespace assay::ptx
