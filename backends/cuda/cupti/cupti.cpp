#include "backends/cuda/cupti/cupti.hpp"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "backends/device/shared_object.hpp"

namespace assay::cuda {

namespace {

std::vector<std::string> library_names() {
  const char* const chosen = std::getenv("ASSAY_CUPTI");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  // Toolkits install it in a directory that the loader does not search.
  return {"libcupti.so.13",
          "libcupti.so.12",
          "libcupti.so",
          "/usr/local/cuda/lib64/libcupti.so",
          "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
          "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so"};
}

}  // namespace

Result<Cupti> Cupti::load() {
  const Result<backends::SharedObject> library = backends::SharedObject::open(library_names());
  if (!library) {
    return Error{"no CUPTI", library.error().message};
  }
  Cupti cupti;
  cupti.library_name_or_path_ = library->name();
#define ASSAY_LOAD(symbol, parameters)                               \
  if (!library->find(cupti.symbol.name, cupti.symbol.address)) {     \
    return Error{"no CUPTI", library->name() + " lacks " + #symbol}; \
  }
  ASSAY_CUPTI_SYMBOLS(ASSAY_LOAD)
#undef ASSAY_LOAD
#define ASSAY_TRY(symbol, parameters) static_cast<void>(library->find(cupti.symbol.name, cupti.symbol.address));
  ASSAY_CUPTI_OPTIONAL_SYMBOLS(ASSAY_TRY)
#undef ASSAY_TRY
  try {
    cupti.call(cupti.cuptiGetVersion, "CUPTI", &cupti.version_);
  } catch (const CallError& error) {
    return Error{"no CUPTI", error.what()};
  }
  return cupti;
}

bool Cupti::has_counters() const {
#define ASSAY_HAS(symbol, parameters) symbol.address != nullptr&&
  return ASSAY_CUPTI_OPTIONAL_SYMBOLS(ASSAY_HAS) true;
#undef ASSAY_HAS
}

void Cupti::fail(std::string_view call, const CallContext& subject, CUptiResult code) const {
  const char* name = nullptr;
  cuptiGetResultString.address(code, &name);
  throw CallError(call, subject, code, name == nullptr ? "unknown result" : name, "CUPTI call failed");
}

std::string advice_on(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "hardware counters require administrator rights: run with CAP_SYS_ADMIN, or load the kernel module "
             "nvidia "
             "with NVreg_RestrictProfilingToAdminUsers=0 (on a virtual GPU, its host must permit it)";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED: return "hardware counters are not supported on this virtual GPU";
    case CUPTI_ERROR_NOT_SUPPORTED: return "these hardware counters are not supported on this GPU";
    default: return "";
  }
}

}  // namespace assay::cuda
