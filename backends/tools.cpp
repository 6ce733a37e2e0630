#include "backends/device/tools.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/host/compiler.hpp"
#include "backends/candidate/triton/compiler.hpp"
#include "backends/cuda/cupti/cupti.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/build_cache.hpp"
#include "support/result.hpp"

namespace assay::backends {
namespace {

/// "no CUDA driver (libcuda.so.1: cannot open shared object file)".
std::string reason_text(const Error& error) {
  return error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where);
}

Tool nvrtc_tool() {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load();
  if (!nvrtc.ok()) return {"NVRTC", false, reason_text(nvrtc.error())};
  return {"NVRTC", true, fmt::format("{}, {}", nvrtc->version(), nvrtc->library())};
}

Tool nvcc_tool() {
  const Result<std::filesystem::path> nvcc = candidate::find_nvcc();
  if (!nvcc.ok()) return {"nvcc", false, reason_text(nvcc.error())};
  return {"nvcc", true, fmt::format("{}, {}", candidate::nvcc_version(*nvcc), nvcc->string())};
}

Tool clang_tool() {
  const Result<candidate::HostCompiler> clang = candidate::find_host_compiler("clang");
  if (!clang.ok()) return {"clang", false, reason_text(clang.error())};
  return {"clang", true, fmt::format("{}, {}", clang->version, clang->program.string())};
}

Tool triton_tool() {
  const Result<candidate::TritonInterpreter> triton = candidate::find_triton("");
  if (!triton.ok()) return {"Triton", false, reason_text(triton.error())};
  return {"Triton", true, fmt::format("{}, {}", triton->version, triton->program.string())};
}

Tool driver_tool() {
  const Result<cuda::Driver> driver = cuda::Driver::load();
  if (!driver.ok()) return {"CUDA driver", false, reason_text(driver.error())};
  return {"CUDA driver", true,
          fmt::format("supports CUDA {}, {} device{}", driver->version(), driver->device_count(),
                      driver->device_count() == 1 ? "" : "s")};
}

Tool cupti_tool() {
  const Result<cuda::Cupti> cupti = cuda::Cupti::load();
  if (!cupti.ok()) return {"CUPTI", false, reason_text(cupti.error())};
  return {"CUPTI", true,
          fmt::format("interface version {}, {}{}", cupti->version(), cupti->library(),
                      cupti->has_counters() ? "" : "; hardware counters require CUDA 12.6")};
}

Tool cache_tool() {
  const std::filesystem::path folder = default_cache_directory();
  const auto cache = BuildCache::open(folder, std::uint64_t{1} << 30);
  if (!cache.ok()) return {"build cache", false, cache.error().text()};
  return {"build cache", true,
          fmt::format("{}, {:.1f} MB", folder.string(), static_cast<double>((*cache)->measure()) / 1e6)};
}

}  // namespace

std::vector<Tool> find_tools() {
  std::vector<Tool> tools{nvrtc_tool()};
  if (const std::vector<std::string> versions = cuda::installed_nvrtc_versions(); !versions.empty())
    tools.push_back({"--nvrtc", true, fmt::format("{}", fmt::join(versions, ", "))});
  tools.insert(tools.end(), {nvcc_tool(), clang_tool(), triton_tool(), driver_tool(), cupti_tool(), cache_tool()});
  return tools;
}

}  // namespace assay::backends
