// The version of Assay, written at each build from the project's version and the checkout (version.cmake).
#pragma once

#include <string>
#include <string_view>

namespace assay {

extern const std::string_view kVersion;  ///< version of the project: "0.1.0"
/// Full hash of the commit that was built; "unknown" outside of version control.
extern const std::string_view kCommitHash;
extern const bool kHasUncommittedChanges;  ///< whether the checkout had uncommitted changes

/// "assay 0.1.0 (d152b22, with local changes)".
std::string version_text();

}  // namespace assay
