// Text forms of numbers, times and locations in reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace assay::reports {

/// A number as text: "2 400 000", grouped by narrow no-break spaces.
std::string count_text(std::int64_t count);

/// A time as text: "0.4 ms", "12 ms", "3.25 s", "2 min 5 s".
std::string time_text(double milliseconds);

/// A rho of the records: a number with three digits, "∞", "nan", or "" if nothing was compared.
std::string rho_text(const nlohmann::json& rho);

/// A number of cases as text: "1 case", "2 cases".
std::string cases_text(std::int64_t cases);

/// The element of a mismatch: "x[3, 0]"; only the name for a scalar.
std::string location_text(const nlohmann::json& mismatch);

/// Percent-encodes (RFC 3986) all characters except unreserved ones and slashes, for URL fragments.
std::string fragment(std::string_view text);

/// Links within the page: to a case, and to the filtered list.
std::string case_link(std::string_view name);
std::string filter_link(std::string_view query);

/// Maximum number of rows in a table of the page; the others are in the records.
inline constexpr std::size_t kMaxRowsPerPage = 400;

}  // namespace assay::reports
