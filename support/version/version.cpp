#include "support/version/version.hpp"

#include <fmt/format.h>

namespace assay {

std::string version_text() {
  return fmt::format("assay {} ({}{})", kVersion, kCommitHash.substr(0, 12),
                     kHasUncommittedChanges ? ", with local changes" : "");
}

}  // namespace assay
