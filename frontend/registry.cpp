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
    LanguageFrontend{.name = "warp",
                     .suffix = ".py",
                     .file_description = "a Python file with Warp kernels",
                     .kernel_description = "a function with the decorator @wp.kernel",
                     .max_source_bytes = kMaxSourceBytes,
                     .is_python = true,
                     .parse = parse_python},
    LanguageFrontend{.name = "text",
                     .suffix = ".ir",
                     .file_description = "a file with kernels in the text form of the IR",
                     .kernel_description = "a definition that begins with 'kernel'",
                     .max_source_bytes = ir::kMaxIrTextBytes,
                     .is_python = false,
                     .parse = parse_ir_text},
};

}  // namespace

std::span<const LanguageFrontend> frontends() { return kFrontends; }

const LanguageFrontend* frontend_of(std::string_view path) {
  const auto found =
      std::ranges::find_if(kFrontends, [&](const LanguageFrontend& row) { return path.ends_with(row.suffix); });
  return found == kFrontends.end() ? nullptr : &*found;
}

}  // namespace assay::frontend
