#include "support/hash.hpp"

#include <array>
#include <stdexcept>

#include <openssl/evp.h>

namespace assay {

std::string sha256_hex(std::string_view bytes) {
  // Fetched once for the life of the process, because libcrypto otherwise looks up the algorithm in every call.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, kSha256, nullptr) != 1 || size != digest.size()) {
    throw std::runtime_error("libcrypto cannot compute SHA-256");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace assay
