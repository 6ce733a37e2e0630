// Any bytes as the text form: read, or refused with a place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/testing/exercise.hpp"

// The name and the type are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::ir::testing::exercise_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
