// Fuzz target: the parser of the text form must accept any bytes or reject them with a location.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/testing/exercise.hpp"

// Name and signature are defined by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::ir::testing::exercise_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
