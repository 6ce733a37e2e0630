// A function of a library that is loaded at run time.
#pragma once

namespace assay::cuda {

template <typename Signature>
struct LoadedFunction {
  const char* name = "";
  Signature* address = nullptr;  ///< null: an optional function that the library lacks
};

}  // namespace assay::cuda
