// Any bytes as a Python file: read, or refused with a place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/warp/testing/exercise.hpp"

// The name and the type are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::frontend::testing::exercise_reader({reinterpret_cast<const char*>(data), size});
  return 0;
}
