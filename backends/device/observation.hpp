// What a device that watches each instruction tells of a launch, beyond its results.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace assay::backends {

/// One access to memory, or one instruction, of one thread.
struct AccessSite {
  std::uint32_t code_line = 0;    ///< of the code that the device executes, such as PTX; 0: unknown
  std::uint32_t source_line = 0;  ///< of the generated source; 0: unknown
  std::string instruction;
  std::array<std::uint32_t, 3> thread{};
  std::array<std::uint32_t, 3> block{};
  friend bool operator==(const AccessSite&, const AccessSite&) = default;
};

/// An access, or a meeting of threads, that must not be.
struct MemoryFinding {
  std::string kind;    ///< "out_of_bounds", "write_write_race"
  std::string kernel;  ///< the entry point
  std::string target;  ///< what the code was generated for: "compute_75"
  AccessSite site;
  std::optional<AccessSite> other;  ///< of a race: the earlier access that it conflicts with
  std::string space;                ///< "global", "shared"; empty where no memory is concerned, as with the following
  std::string address;              ///< as the kernel computed it, in hex
  std::string allocation;           ///< what it is meant for; empty when that is nothing
  std::int64_t offset = 0;          ///< in the allocation, in bytes; may lie outside
  std::uint64_t allocation_bytes = 0;
  std::uint32_t access_bytes = 0;
  std::uint64_t count = 1;  ///< how often the instruction did this
  std::string text;         ///< all of it in one line, for a person
  friend bool operator==(const MemoryFinding&, const MemoryFinding&) = default;
};

/// How far the bits of a run are those of any hardware: executed instructions of all threads, by what fixes their
/// result.
struct Fidelity {
  std::uint64_t exact = 0;                    ///< the instruction set fixes the bits
  std::uint64_t approximate = 0;              ///< correctly rounded here, within a documented bound on hardware
  std::uint64_t order_dependent = 0;          ///< atomics on floats
  std::uint64_t contractible = 0;             ///< products and sums that hardware may fuse
  bool approximation_reaches_result = false;  ///< a value that an approximation entered was stored
  friend bool operator==(const Fidelity&, const Fidelity&) = default;
};

/// What one launch executed, independent of the machine that ran it.
struct ExecutionProfile {
  std::string target;  ///< what the code was generated for: "compute_75"
  std::int64_t threads = 0;
  Fidelity fidelity;
  std::map<std::string, double> measures;  ///< by name: "sectors_per_access"
  friend bool operator==(const ExecutionProfile&, const ExecutionProfile&) = default;
};

/// How fast a device that has a clock of its own ran one launch, and what that took of it.
struct Measurement {
  std::string target;  ///< what the code ran on: "sm_90"
  std::int64_t threads = 0;
  std::map<std::string, double> measures;  ///< by name: "time_ns", "registers"
  std::string remark;                      ///< what could not be measured, and what to do about it; empty: nothing
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

}  // namespace assay::backends
