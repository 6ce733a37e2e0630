// The PTX of rows, for `assay generate --with-ptx`.
#pragma once

#include <functional>
#include <string>

#include "harness/dataset/plan.hpp"
#include "harness/dataset/row.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// Compiles the CUDA source of a row, as nvcc does without options that change arithmetic. Fails with the compiler's
/// message. Empty if rows get no PTX. Thread-safe.
using RowPtxCompiler = std::function<Result<std::string>(const DatasetRow& row)>;

/// The installed NVRTC for an architecture, such as "compute_75". Fails if there is no NVRTC, or if it does not support
/// the architecture.
Result<PtxCompiler> find_ptx_compiler(const std::string& architecture);

/// A compiler for the plan's member `ptx`; empty if its architecture is empty. Fails as find_ptx_compiler() does.
Result<RowPtxCompiler> make_ptx_compiler(const DatasetPlan& plan);

/// What PTX text states about itself.
struct RowPtxSummary {
  std::string architecture;  ///< "compute_75" for ".target sm_75"; empty if the text states none
  std::string compiler;      ///< the comment with the number of the compiler's build; empty if there is none
  std::string sha256;        ///< hash of the whole text; empty for an empty text
};
RowPtxSummary summarize_ptx(const std::string& ptx);

/// The first function of the row's CUDA source that its PTX does not define as an entry point; empty if there is none.
std::string missing_ptx_entry(const DatasetRow& row);

}  // namespace assay::dataset
