// Hashes that identify the inputs of each stage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits: for keys that outlive the process,
// as those of modules, sources and the build cache.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// 64-bit FNV-1a of the bytes, the same on every platform and in every version: for seeds and for names.
// Not for keys that must not collide. `basis` chains: fnv1a(b, fnv1a(a)) is fnv1a of a followed by b.
inline constexpr std::uint64_t kFnv1aBasis = 0xcbf29ce484222325;

[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t basis = kFnv1aBasis) {
  std::uint64_t hash = basis;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x00000100000001b3;
  }
  return hash;
}

}  // namespace assay
