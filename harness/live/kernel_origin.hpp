// Where the text of a kernel that was exported from a running Python comes from.
#pragma once

#include <string>

namespace assay::live {

/// Where the text of an exported kernel comes from.
struct KernelOrigin {
  std::string package;      ///< name of the Python package; empty for a single file
  std::string version;      ///< version of the package; empty if unknown
  std::string file;         ///< path of the kernel's file in the package, or the name of a single file
  std::string license;      ///< SPDX expression, or "unknown"
  std::string attribution;  ///< packages, copyright, licenses and addresses, in one line
  friend bool operator==(const KernelOrigin&, const KernelOrigin&) = default;
};

}  // namespace assay::live
