// Seams for faults that are planted in Assay's own oracle and judge, to see that the suite notices them
// (harness/mutation/injected_fault.hpp lists the faults). Only the program assay-faulty is compiled with
// ASSAY_FAULT_INJECTION, and of it only the files that have a seam; anywhere else a seam is a constant and vanishes.
// For source files, never headers.
#pragma once

#include <string_view>

namespace assay {

#ifdef ASSAY_FAULT_INJECTION
constexpr bool kInjectedFaults = true;
/// Whether this fault was chosen on the command line.
bool planted(std::string_view fault);
#else
constexpr bool kInjectedFaults = false;
constexpr bool planted(std::string_view) { return false; }
#endif

}  // namespace assay
