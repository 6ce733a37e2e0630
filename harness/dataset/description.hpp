// Describes a kernel in English: a docstring, and an instruction from which a person or a language model can write it.
//
// Every statement in these texts follows from the program. Expressions are quoted from the Python source.
#pragma once

#include <string>

#include "ir/module.hpp"

namespace assay::dataset {

/// Texts that describe a kernel, for readers and for training.
struct KernelDescription {
  std::string docstring;    ///< a few sentences: what the kernel computes, from which inputs, and how
  std::string instruction;  ///< task to write the kernel: name, parameters, launch, preconditions, and each step
  friend bool operator==(const KernelDescription&, const KernelDescription&) = default;
};

/// Describes a kernel of a module that was parsed from Python, or that source::warp::write_module made.
KernelDescription describe(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::dataset
