// How reports spell numbers, times and places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace assay::reports {

// "2 400 000", grouped by narrow spaces that do not break.
std::string count_text(std::int64_t count);

// "0.4 ms", "12 ms", "3.25 s", "2 min 5 s".
std::string time_text(double milliseconds);

// A rho of the records: a number to three digits, "∞", "nan", or "" where nothing was compared.
std::string rho_text(const nlohmann::json& rho);

// "1 case", "2 cases".
std::string cases_text(std::int64_t cases);

// "x[3, 0]" of a mismatch; the array's name alone for a scalar.
std::string location_text(const nlohmann::json& mismatch);

// Percent-encoding (RFC 3986) of what is neither unreserved nor a slash: for URL fragments.
std::string fragment(std::string_view text);

// Links into the page: a case's own page, and the list under a filter.
std::string case_link(std::string_view name);
std::string filter_link(std::string_view query);

// A table of the page has no more rows; the others are in the records.
inline constexpr std::size_t kRowsOfPage = 400;

}  // namespace assay::reports
