#include "cli/version.hpp"

#include <fmt/format.h>

namespace assay::cli {

std::string version_text() {
  return fmt::format("assay {} ({}{})", kVersion, kCommit.substr(0, 12), kDirty ? ", with local changes" : "");
}

}  // namespace assay::cli
