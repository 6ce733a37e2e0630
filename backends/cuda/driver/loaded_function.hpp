// A function of a library that is loaded at run time.
#pragma once

namespace assay::cuda {

template <typename Signature>
struct LoadedFunction {
  const char* name = "";         ///< exported name of the function
  Signature* address = nullptr;  ///< address of the function; null if it is optional and the library lacks it
};

}  // namespace assay::cuda
