// Bytes made fit to lie in a text.
#pragma once

#include <string>
#include <string_view>

namespace assay::reports {

// Base64 (RFC 4648), in one line.
std::string base64(std::string_view bytes);

// The bytes in the zlib format (RFC 1950), which browsers unpack as "deflate".
std::string deflated(std::string_view bytes);

}  // namespace assay::reports
