// Encodings of bytes for embedding in text.
#pragma once

#include <string>
#include <string_view>

namespace assay::reports {

/// Base64 (RFC 4648), on one line.
std::string base64(std::string_view bytes);

/// The bytes in the zlib format (RFC 1950), which browsers decompress as "deflate".
std::string deflated(std::string_view bytes);

}  // namespace assay::reports
