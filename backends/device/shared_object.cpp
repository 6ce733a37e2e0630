#include "backends/device/shared_object.hpp"

#include <dlfcn.h>

namespace assay::backends {

Result<SharedObject> SharedObject::open(std::span<const std::string> candidates) {
  std::string reason = "the name of the library is missing";
  for (const std::string& candidate : candidates) {
    if (void* const handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return SharedObject(handle, candidate);
    }
    reason = ::dlerror();
  }
  return Error{reason};
}

void* SharedObject::address(const char* symbol) const { return ::dlsym(handle_, symbol); }

}  // namespace assay::backends
