// The curated cases: one file of Warp Python each, conformance/cases/<family>/<kernel>.py, embedded in the program.
//
// To add a case, add a file: its kernel has the file's name, and a comment at its top says what it tests. Every file
// also runs in real Warp.
#pragma once

#include <span>
#include <string_view>

namespace assay::conformance {

/// One curated case.
struct CaseFile {
  std::string_view family;  ///< name of the folder: "loop"
  std::string_view name;    ///< name of the file and of its kernel: "dynamic_product"
  std::string_view path;    ///< path of the file, relative to the repository's root
  std::string_view text;    ///< content of the file
};

/// All cases, sorted by family, then by name.
std::span<const CaseFile> cases();

/// The cases of one family, a part of cases(); empty where there is none.
std::span<const CaseFile> cases_of(std::string_view family);

/// The case of a family and a kernel's name, or null.
const CaseFile* find_case(std::string_view family, std::string_view name);

}  // namespace assay::conformance
