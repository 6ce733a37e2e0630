// Whether this program is built with a sanitizer that has a run-time library.
#pragma once

namespace assay::worker {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// Its shadow memory takes terabytes of address space, and it needs additional system calls.
inline constexpr bool kIsSanitizerBuild = true;
#else
inline constexpr bool kIsSanitizerBuild = false;
#endif

}  // namespace assay::worker
