// Whether this program is built with a sanitizer that has a run-time library.
#pragma once

namespace assay::worker {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// Whether this program is built with a sanitizer. Its shadow memory needs terabytes of address space, and it needs
/// additional system calls.
inline constexpr bool kIsSanitizerBuild = true;
#else
inline constexpr bool kIsSanitizerBuild = false;
#endif

}  // namespace assay::worker
