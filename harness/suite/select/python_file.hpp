// The kernels of a user's Python file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A selector that names a file: "wave.py" for all of its kernels, "wave.py:step" for one.
struct FileSelector {
  std::string path;
  std::string kernel;  ///< empty: all
};

/// Takes a selector apart if it names a file: it ends in .py, has ".py:" in it, or is the path of
/// something that is there and no folder.
std::optional<FileSelector> file_selector(std::string_view text);

struct PythonKernels {
  std::vector<KernelSource> kernels;  ///< in the order of the file; one that could not be read says why
  std::vector<std::string> notes;     ///< one line each, of what was read but the user should know
};

/// Reads the kernels that the selector names. Their family is "user" and their name <file's stem>.<kernel>, so that it
/// does not depend on what else is judged. What they name of modules beside the file is read there; the text of such a
/// kernel is then its own with all that it uses, written anew. Fails, with the place, on a file that cannot be opened
/// or is no readable Python, on one without kernels, and on a kernel that the file lacks.
Result<PythonKernels> read_file(const FileSelector& selector);

/// The kernels of a Python text; `file` stands for it in messages, and nothing beside it is read.
Result<PythonKernels> read_text(const std::string& text, const std::string& file);

}  // namespace assay::harness
