// Selectors that match several files: folders and globs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// Whether the selector has wildcards and ends in the suffix of a frontend, and is not itself the name of a file.
bool is_file_glob(std::string_view selector);

/// The files of the languages of all frontends below a folder ("src/", "."), or those that match a glob ("src/*.py",
/// "src/**/*.py"; `**` matches any number of folders), sorted. A wildcard does not match hidden files. Hidden folders,
/// __pycache__ and virtual environments are skipped. Nothing if the selector is neither a folder nor a glob over such
/// files.
std::optional<std::vector<std::string>> files_of(std::string_view selector);

}  // namespace assay::harness
