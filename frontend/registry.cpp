#include <algorithm>
#include <array>

#include "frontend/interface/frontend.hpp"
#include "frontend/text/reader.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "frontend/warp/syntax/source_text.hpp"
#include "ir/limits.hpp"

namespace assay::frontend {
namespace {

constexpr std::array kFrontends{
    FrontendEntry{.name = "warp",
                  .suffix = ".py",
                  .file_description = "a Python file with Warp kernels",
                  .kernel_description = "a function with the decorator @wp.kernel",
                  .max_source_size = kMaxSourceSize,
                  .is_python = true,
                  .parse = parse_python},
    FrontendEntry{.name = "text",
                  .suffix = ".ir",
                  .file_description = "a file with kernels in the text form of the IR",
                  .kernel_description = "a definition that begins with 'kernel'",
                  .max_source_size = ir::kMaxTextBytes,
                  .is_python = false,
                  .parse = parse_ir_text},
};

}  // namespace

std::span<const FrontendEntry> frontends() { return kFrontends; }

const FrontendEntry* frontend_of(std::string_view path) {
  const auto found =
      std::ranges::find_if(kFrontends, [&](const FrontendEntry& row) { return path.ends_with(row.suffix); });
  return found == kFrontends.end() ? nullptr : &*found;
}

}  // namespace assay::frontend
