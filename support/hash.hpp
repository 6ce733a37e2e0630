// Hashes that identify the inputs of each stage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits: for keys that outlive the process,
/// as those of modules, sources and the build cache.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

inline constexpr std::uint64_t kFnv1aBasis = 0xcbf29ce484222325;  ///< The hash of the empty text, for 64-bit FNV-1a.

/// Returns the 64-bit FNV-1a hash of the bytes, which is the same on every platform and in every version. Use it for
/// seeds and names, but not for keys that must not collide. With `basis`, hashes can be chained: fnv1a(b, fnv1a(a)) is
/// the hash of a followed by b.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t basis = kFnv1aBasis) {
  std::uint64_t hash = basis;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x00000100000001b3;
  }
  return hash;
}

}  // namespace assay
