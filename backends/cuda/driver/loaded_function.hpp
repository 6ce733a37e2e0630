// A function of a library that is loaded at run time.
#pragma once

namespace assay::cuda {

template <typename Signature>
struct LoadedFunction {
  const char* name = "";         ///< exported name of the function
  Signature* address = nullptr;  ///< null if the library lacks the function, which only optional ones may
};

}  // namespace assay::cuda
