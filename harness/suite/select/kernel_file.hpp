// The kernels of a user's file, in any language that has a frontend, and of a curated case.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A selector that names a file: "wave.py" for all of its kernels, "wave.py:step" for one.
struct FileSelector {
  std::string path;    ///< path of the file
  std::string kernel;  ///< name of the kernel; empty: all kernels of the file
};

/// Parses a selector that names a file: it ends in the suffix of a frontend, contains such a suffix and a colon
/// (".py:"), or is the path of an existing file. Nothing if it names none.
std::optional<FileSelector> file_selector(std::string_view text);

/// The kernels of a file.
struct KernelSet {
  std::vector<KernelSource> kernels;  ///< the kernels, in the order of the file; an unsupported one has a parse_error
  std::vector<std::string> notes;     ///< messages about what was parsed, one line each
};

/// All kernels of a file, none if it defines none. Their family is "user" and their name <file's stem>.<kernel>, so
/// that it does not depend on what else is judged. What they use of modules next to the file is parsed as well; the
/// source text of such a kernel is then generated and holds everything that it uses. Fails, with the source location,
/// if the file cannot be opened or parsed.
Result<KernelSet> kernels_in(const std::string& path);

/// The kernels that the selector names. Fails as kernels_in does, and if the file has no kernel or not the one named.
Result<KernelSet> read_file(const FileSelector& selector);

/// The kernels of a text; `file` is its name in messages and selects the language. No other file is read.
Result<KernelSet> read_text(const std::string& text, const std::string& file);

/// The kernel of a curated case. Fails with an internal error if the file is not valid Python or does not contain
/// exactly one kernel. An unsupported kernel is returned with its reason.
Result<KernelSource> curated_kernel(const conformance::CaseFile& curated);

}  // namespace assay::harness
