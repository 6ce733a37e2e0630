// Injection points for faults in Assay's own oracle and judge, to test that the suite detects them
// (harness/mutation/injected_fault.hpp lists the faults). Only the program assay-faulty is compiled with
// ASSAY_FAULT_INJECTION, and only in files with an injection point; elsewhere an injection point is the constant false.
// Use in source files only, never in headers.
#pragma once

#include <string_view>

namespace assay {

#ifdef ASSAY_FAULT_INJECTION
constexpr bool kFaultInjectionEnabled = true;  ///< whether this file is compiled for the program assay-faulty
/// Whether this fault was selected on the command line.
bool fault_is_active(std::string_view fault);
#else
constexpr bool kFaultInjectionEnabled = false;
constexpr bool fault_is_active(std::string_view) { return false; }
#endif

}  // namespace assay
