// The text form of the kernel language (ir/text.hpp) as an input: `assay run kernel.ir`.
#pragma once

#include <string>
#include <string_view>

#include "frontend/interface/frontend.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// Fails, with "file:line:column", on a text that cannot be parsed or whose module is not valid. There are no imports,
/// so the finder is not used.
Result<ParsedFile> parse_ir_text(std::string_view source, std::string file_name, const ModuleFinder& finder = {});

}  // namespace assay::frontend
