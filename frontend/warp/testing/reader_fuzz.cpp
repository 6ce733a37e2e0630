// Arbitrary bytes as a Python file: parsed, or rejected with a location.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/warp/testing/exercise.hpp"

// The name and the type are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::frontend::testing::check_parser_invariants({reinterpret_cast<const char*>(data), size});
  return 0;
}
