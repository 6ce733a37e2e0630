// What a device that checks every instruction reports about a launch in addition to its results.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace assay::backends {

/// One memory access, or one instruction, of one thread.
struct AccessSite {
  std::uint32_t code_line = 0;    ///< line of the executed code, such as PTX; 0: unknown
  std::uint32_t source_line = 0;  ///< line of the generated source; 0: unknown
  std::string instruction;
  std::array<std::uint32_t, 3> thread{};
  std::array<std::uint32_t, 3> block{};
  friend bool operator==(const AccessSite&, const AccessSite&) = default;
};

/// An invalid memory access, race, or misuse of a synchronisation instruction.
struct MemoryFinding {
  std::string kind;    ///< "out_of_bounds", "write_write_race"
  std::string kernel;  ///< the entry point
  std::string target;  ///< the architecture of the code: "compute_75"
  AccessSite site;
  std::optional<AccessSite> other;  ///< for a race: the earlier conflicting access
  std::string space;                ///< "global", "shared"; empty, like the following members, if no memory is involved
  std::string address;              ///< as the kernel computed it, in hex
  std::string allocation;           ///< the allocation that the address belongs to; empty if none
  std::int64_t offset = 0;          ///< in bytes from the start of the allocation; may be outside
  std::uint64_t allocation_bytes = 0;
  std::uint32_t access_bytes = 0;
  std::uint64_t count = 1;  ///< how often the instruction did so
  std::string text;         ///< a description in one line
  friend bool operator==(const MemoryFinding&, const MemoryFinding&) = default;
};

/// How far the result bits of a run are the same on all hardware: counts of executed instructions of all threads, by
/// what determines their result.
struct Fidelity {
  std::uint64_t exact = 0;            ///< the instruction set determines the bits
  std::uint64_t approximate = 0;      ///< correctly rounded by the emulator, within a documented bound on hardware
  std::uint64_t order_dependent = 0;  ///< atomics on floats
  std::uint64_t contractible = 0;     ///< products and sums that a compiler may fuse
  bool approximation_reaches_result = false;  ///< a value that depends on an approximation was stored
  friend bool operator==(const Fidelity&, const Fidelity&) = default;
};

/// What one launch executed, independent of the host machine.
struct ExecutionProfile {
  std::string target;  ///< the architecture of the code: "compute_75"
  std::int64_t threads = 0;
  Fidelity fidelity;
  std::map<std::string, double> measures;  ///< by name: "sectors_per_access"
  friend bool operator==(const ExecutionProfile&, const ExecutionProfile&) = default;
};

/// The time and resources of one launch, measured on a device with its own clock.
struct Measurement {
  std::string target;  ///< the architecture of the GPU: "sm_90"
  std::int64_t threads = 0;
  std::map<std::string, double> measures;  ///< by name: "time_ns", "registers"
  std::string remark;                      ///< what could not be measured and what to do about it; empty if nothing
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

}  // namespace assay::backends
