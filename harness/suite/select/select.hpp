// Selects the kernels to judge from the selectors on the command line. Start reading here.
//
//     auto selection = select({"loop", "math/*/f64", "wave.py:step"}, {.device = "cpu"});
//     for (const Selected& one : selection->kernels) ...   // one.source, one.forward, one.backward
//
// A selector is a pattern of case names (pattern.hpp), a file (kernel_file.hpp), or a folder or glob of files
// (paths.hpp). A pattern that matches a family precedes a folder of that name. Of a family, the curated cases come
// first, then the random kernels of the requested seeds. A random kernel can also be named by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// How selectors are resolved.
struct SelectOptions {
  std::string device = "cpu";           ///< device of the cases; a pattern that names another device is an error
  std::vector<std::string> modes{""};   ///< numeric modes of the cases; an empty mode is omitted from their names
  int random_kernels_per_family = 8;    ///< number of random kernels for each family that a pattern matches
  std::uint64_t first_random_seed = 1;  ///< seed of the first random kernel
};

/// A kernel, and which of its cases are selected.
struct SelectedKernel {
  KernelSource source;             ///< the kernel
  bool forward = true;             ///< whether its forward cases are selected
  bool backward = true;            ///< whether its backward cases are selected
  std::vector<std::string> modes;  ///< modes of the selected cases: a subset of the options' modes, in their order
};

/// A note for the user about the selection; notes of the same `kind` are grouped.
struct SelectionNote {
  std::string kind;  ///< the kind: "unsupported kernel"
  std::string text;  ///< the note itself, one line
  friend bool operator==(const SelectionNote&, const SelectionNote&) = default;
};

/// The selected kernels.
struct Selection {
  std::vector<SelectedKernel> kernels;  ///< each kernel once, in the order of the selectors
  std::vector<SelectionNote> notes;     ///< notes for the user
};

/// Fails on the first selector that matches nothing, with what was expected and similar names.
Result<Selection> select(const std::vector<std::string>& selectors, const SelectOptions& options);

}  // namespace assay::harness
