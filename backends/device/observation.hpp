// What a device that checks every instruction reports about a launch in addition to its results.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace assay::backends {

/// One instruction of one thread, such as a memory access.
struct AccessSite {
  std::uint32_t code_line = 0;            ///< line of the executed code, such as PTX; 0: unknown
  std::uint32_t source_line = 0;          ///< line of the generated source; 0: unknown
  std::string instruction;                ///< text of the instruction
  std::array<std::uint32_t, 3> thread{};  ///< index of the thread in its block: x, y, z
  std::array<std::uint32_t, 3> block{};   ///< index of the block in the grid: x, y, z
  friend bool operator==(const AccessSite&, const AccessSite&) = default;
};

/// An invalid memory access, race, or misuse of a synchronization instruction.
struct MemoryFinding {
  std::string kind;                              ///< kind of the finding: "out_of_bounds", "write_write_race"
  std::string kernel;                            ///< name of the kernel's entry point
  std::string target;                            ///< architecture of the code: "compute_75"
  AccessSite site;                               ///< the access or instruction that caused the finding
  std::optional<AccessSite> conflicting_access;  ///< the earlier conflicting access of a race; nullopt for other kinds
  std::string
      state_space;  ///< state space: "global", "shared"; empty, like the following members, if no memory is involved
  std::string address;          ///< address as the kernel computed it, in hexadecimal
  std::string allocation_name;  ///< name of the memory allocation that the address belongs to; empty if none
  /// Offset of the address from the start of the allocation, in bytes; may be outside of the allocation.
  std::int64_t offset = 0;
  std::uint64_t allocation_bytes = 0;  ///< size of the allocation in bytes
  std::uint32_t access_bytes = 0;      ///< number of bytes accessed
  std::uint64_t count = 1;             ///< how often the instruction caused this finding
  std::string text;                    ///< a description in one line
  friend bool operator==(const MemoryFinding&, const MemoryFinding&) = default;
};

/// To what extent the result bits of a run are the same on all hardware: the number of executed instructions, summed
/// over threads, by what determines their result.
struct ExactnessCounts {
  std::uint64_t exact_instruction_count = 0;  ///< instructions whose result the instruction set defines bit for bit
  std::uint64_t approximate_instruction_count =
      0;  ///< instructions rounded correctly here, within a documented bound on hardware
  std::uint64_t order_dependent_instruction_count = 0;  ///< atomics on floats, whose result bits depend on their order
  std::uint64_t contractible_instruction_count = 0;     ///< multiplications and additions that a compiler may fuse
  bool approximation_reaches_result = false;  ///< whether a value was stored that depends on an approximate instruction
  friend bool operator==(const ExactnessCounts&, const ExactnessCounts&) = default;
};

/// What one launch executed. It does not depend on the machine that interprets the code.
struct ExecutionProfile {
  std::string target;                      ///< architecture of the code: "compute_75"
  std::int64_t threads = 0;                ///< number of threads of the launch
  ExactnessCounts exactness;               ///< counts of instructions by what determines their result
  std::map<std::string, double> measures;  ///< values of the profile, by name: "sectors_per_access"
  friend bool operator==(const ExecutionProfile&, const ExecutionProfile&) = default;
};

/// The time and the resources of one launch, measured with the device's own clock.
struct Measurement {
  std::string target;                      ///< architecture of the GPU: "sm_90"
  std::int64_t threads = 0;                ///< number of threads of the launch
  std::map<std::string, double> measures;  ///< measured values by name: "time_ns", "registers"
  std::string remark;                      ///< what could not be measured and what to do about it; empty if nothing
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

}  // namespace assay::backends
