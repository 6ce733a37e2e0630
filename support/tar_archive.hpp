// Archives that ci/gpu packs on one machine and `assay report` opens on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "support/result.hpp"

namespace assay {

/// What is believed of an archive, whoever made it.
struct ArchiveLimits {
  std::uint64_t bytes = std::uint64_t{4} << 30U;  ///< of all files together, unpacked
  std::size_t entries = 100'000;
};

/// Unpacks an archive, POSIX ustar as it is or packed by gzip, into `folder`, which is made. What lies at its top.
///
/// Only files and folders are taken, below `folder`, none that is there already. Anything else is refused with the
/// entry's name, and nothing is left behind then: other kinds of entries, as links and devices, names that are absolute
/// or go upwards, damaged or cut off archives, more than the limits.
Result<std::vector<std::filesystem::path>> unpack(const std::filesystem::path& archive,
                                                  const std::filesystem::path& folder,
                                                  const ArchiveLimits& limits = {});

}  // namespace assay
