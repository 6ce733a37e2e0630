#include "reports/formats/html/packed.hpp"

#include <cstdio>
#include <cstdlib>

#include <openssl/evp.h>
#include <zlib.h>

namespace assay::reports {
namespace {

const unsigned char* unsigned_bytes(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* unsigned_bytes(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a zero
  const int length = EVP_EncodeBlock(unsigned_bytes(text), unsigned_bytes(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int result = compress2(unsigned_bytes(packed), &size, unsigned_bytes(bytes), static_cast<uLong>(bytes.size()),
                               Z_DEFAULT_COMPRESSION);
  if (result != Z_OK) {  // only for want of memory
    std::fprintf(stderr, "assay: zlib failed: %d\n", result);
    std::abort();
  }
  packed.resize(size);
  return packed;
}

}  // namespace assay::reports
