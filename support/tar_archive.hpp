// Archives that ci/gpu packs on one machine and `assay report` opens on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "support/result.hpp"

namespace assay {

/// The limits for archives that are not trusted.
struct ArchiveLimits {
  std::uint64_t max_bytes = std::uint64_t{4} << 30U;  ///< maximum size in bytes of all files together, unpacked
  std::size_t max_entries = 100'000;                  ///< maximum number of files and folders
};

/// Unpacks a POSIX ustar archive, plain or compressed by gzip, into `folder`, which is created. Returns its top-level
/// entries.
///
/// Accepts only files and folders below `folder` that do not exist yet. Rejects anything else with the name of the
/// entry and leaves nothing behind: links, devices, absolute paths, paths with "..", damaged or truncated archives, and
/// archives beyond the limits.
Result<std::vector<std::filesystem::path>> unpack_archive(const std::filesystem::path& archive,
                                                          const std::filesystem::path& folder,
                                                          const ArchiveLimits& limits = {});

}  // namespace assay
