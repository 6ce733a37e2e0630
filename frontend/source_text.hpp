// What is checked of a file before it is parsed, and its lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/result.hpp"

namespace assay::frontend {

/// Files larger than this are not taken.
inline constexpr std::size_t kLargestSource = 10'000'000;

/// The text without a byte order mark, if it is UTF-8 that a Python file can hold. The error's `where` is
/// "line:column" where there is such a place.
Result<std::string_view> check_source(std::string_view bytes);

/// The lines without their ends; "\r\n" ends a line too.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace assay::frontend
