// Outcomes of launches as JSON, which a worker writes and a session reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/device/backend.hpp"

namespace assay::candidate {

/// The text of a LaunchFailed, Crashed, TimedOut, MemoryFault or Unsupported. Leaves out the last findings if the text
/// would be longer than `max_bytes`.
std::string outcome_text(const backends::RunOutcome& outcome, std::size_t max_bytes);

/// The outcome with this text; nullopt if the text is not one that outcome_text() writes.
std::optional<backends::RunOutcome> outcome_from(std::string_view text);

/// The last line that a process printed, as a clause of a message; empty if it printed nothing.
std::string output_clause(std::string output);

}  // namespace assay::candidate
