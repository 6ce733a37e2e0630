// From what stands on the command line to the kernels that are judged. Start reading here.
//
//     auto selection = select({"loop", "math/*/f64", "wave.py:step"}, {.device = "cpu"});
//     for (const Selected& one : selection->kernels) ...   // one.source, one.forward, one.backward
//
// A selector is a pattern over the names of cases (pattern.hpp), a file (kernel_file.hpp), or a folder or glob that
// stands for files (paths.hpp). A pattern that matches a family precedes a folder of that name. Of a family, the
// curated cases come first, then the random kernels of the requested seeds. A random kernel can also be named by
// itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

struct SelectOptions {
  std::string device = "cpu";          ///< of the names; a pattern that asks for another device selects nothing
  std::vector<std::string> modes{""};  ///< of the names; an empty one is left out of them
  int random_kernels = 8;              ///< for each family that a pattern names
  std::uint64_t first_random = 1;      ///< the first one's seed
};

/// A kernel, and which of its cases.
struct Selected {
  KernelSource source;
  bool forward = true;
  bool backward = true;
  std::vector<std::string> modes;  ///< of those that the options name, in their order
};

/// Something about the selection that a person should know; `kind` groups notes of one sort.
struct Note {
  std::string kind;
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

struct Selection {
  std::vector<Selected> kernels;  ///< each once, in the order of the selectors
  std::vector<Note> notes;
};

/// Fails on the first selector that selects nothing, with what was found, what was expected and names that are near.
Result<Selection> select(const std::vector<std::string>& selectors, const SelectOptions& options);

}  // namespace assay::harness
