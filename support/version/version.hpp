// The version of Assay.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Written at each build from the project's version and the checkout (version.cmake).
extern const std::string_view kVersion;     // "0.1.0"
extern const std::string_view kCommitHash;  // full hash; "unknown" outside of version control
extern const bool kHasUncommittedChanges;   // the checkout had uncommitted changes

/// "assay 0.1.0 (d152b22, with local changes)".
std::string version_text();

}  // namespace assay
