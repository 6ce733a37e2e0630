// libFuzzer's entry: any bytes as text. Built with -DASSAY_FUZZ=ON by clang; run as `ir_text_fuzz CORPUS_FOLDER`.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/testing_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::ir::testing::exercise_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
