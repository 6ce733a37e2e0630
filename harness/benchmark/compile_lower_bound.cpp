#include "harness/benchmark/compile_lower_bound.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "backends/cpu/compiler.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/artifact_files.hpp"
#include "backends/device/batch_source.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/ptx/device.hpp"
#include "support/parallel.hpp"

namespace assay::benchmark {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLimit{10};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A source file, written before timing starts.
struct Unit {
  fs::path source;
  backends::BuildFlags flags;
  std::size_t bytes = 0;
};

Result<std::vector<Unit>> write_units(const std::vector<CompileInput>& work, std::size_t batch,
                                      const fs::path& folder) {
  std::vector<Unit> units;
  for (const CompileInput& part : work) {
    const std::span<const backends::EmittedKernel> all(part.kernels);
    for (std::size_t first = 0; first < all.size(); first += batch) {
      std::vector<const backends::EmittedKernel*> kernels;
      for (const backends::EmittedKernel& kernel : all.subspan(first, std::min(batch, all.size() - first)))
        kernels.push_back(&kernel);
      const fs::path path = folder / fmt::format("{}_{}.cpp", batch, units.size());
      const std::string text = backends::compose_batch_with_wrappers(kernels, part.flags).text;
      if (!backends::write_file(path, text)) return Error{"cannot write " + path.string() + "; is the disk full?"};
      units.push_back({path, part.flags, text.size()});
    }
  }
  // The slowest units first, so that no core is idle at the end.
  std::ranges::stable_sort(units, std::ranges::greater{},
                           [](const Unit& unit) { return std::pair(unit.flags.optimization_level, unit.bytes); });
  return units;
}

}  // namespace

Result<std::vector<CompileLowerBound>> measure_cpp_lower_bounds(const std::vector<CompileInput>& work,
                                                                const std::string& compiler_command, unsigned jobs,
                                                                std::span<const std::size_t> batches) {
  const Result<cpu::Compiler> compiler = cpu::Compiler::find(compiler_command);
  if (!compiler.ok()) return compiler.error();
  const std::optional<cpu::Compiler> fastest =
      cpu::uses_default_compiler(compiler_command) ? cpu::Compiler::find_fastest(nullptr) : std::nullopt;
  const Result<backends::ScratchDirectory> scratch =
      backends::make_artifact_directory(backends::default_cache_directory());
  if (!scratch.ok()) return scratch.error();
  std::vector<CompileLowerBound> lower_bounds;
  for (const std::size_t batch : batches) {
    const Result<std::vector<Unit>> units = write_units(work, batch, scratch->path());
    if (!units.ok()) return units.error();
    std::atomic<std::size_t> rejected = 0;
    const auto start = std::chrono::steady_clock::now();
    for_each_index_in_parallel(units->size(), jobs, [&](std::size_t i) {
      const Unit& unit = (*units)[i];
      fs::path library = unit.source;
      library.replace_extension(".so");
      const cpu::Compiler& used = unit.flags.uses_fastest_compiler && fastest ? *fastest : *compiler;
      rejected += used.build_library(unit.source, library, unit.flags, kLimit).succeeded() ? 0 : 1;
    });
    const double seconds = seconds_since(start);
    if (rejected > 0)
      return Error{fmt::format("the C++ compiler rejects {} of {} source files", rejected.load(), units->size())};
    lower_bounds.push_back({.batch_size = batch, .translation_unit_count = units->size(), .wall_seconds = seconds});
  }
  return lower_bounds;
}

Result<CompileLowerBound> measure_nvrtc_lower_bound(const std::vector<CompileInput>& work, unsigned jobs) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load();
  if (!nvrtc.ok()) return nvrtc.error();
  struct Program {
    std::string name;
    std::string source;
    cuda::NvrtcOptions options;
  };
  const ptx::PtxOptions device;
  std::vector<Program> programs;
  for (const CompileInput& part : work) {
    if (part.flags.compiles_batches) {
      std::vector<const backends::EmittedKernel*> batch;
      for (const backends::EmittedKernel& kernel : part.kernels) {
        batch.push_back(&kernel);
        if (batch.size() < device.batch_size && &kernel != &part.kernels.back()) continue;
        programs.push_back(
            {"batch.cu",
             backends::compose_batch(batch, part.flags.precisions()).text,
             {.architecture = ptx::chosen_architectures(device.architectures, part.flags.architectures).front(),
              .flags = part.flags,
              .emit_line_info = true,
              .omits_runtime_declarations = true}});
        batch.clear();
      }
      continue;
    }
    for (const backends::EmittedKernel& kernel : part.kernels) {
      for (const backends::Precision precision : backends::compiled_precisions(kernel, part.flags.precisions())) {
        for (const std::string& architecture :
             ptx::chosen_architectures(device.architectures, part.flags.architectures)) {
          if (!nvrtc->supports(architecture)) continue;
          programs.push_back({kernel.name + ".cu",
                              kernel.source(),
                              {.architecture = architecture,
                               .flags = part.flags,
                               .precision = precision,
                               .emit_line_info = true,
                               .omits_runtime_declarations = true}});
        }
      }
    }
  }
  std::atomic<std::size_t> rejected = 0;
  const auto start = std::chrono::steady_clock::now();
  for_each_index_in_parallel(programs.size(), jobs, [&](std::size_t i) {
    const auto outcome = nvrtc->compile(programs[i].source, programs[i].name, programs[i].options);
    rejected += std::holds_alternative<cuda::CompiledCode>(outcome) ? 0 : 1;
  });
  const double seconds = seconds_since(start);
  if (rejected > 0) return Error{fmt::format("NVRTC rejects {} of {} source files", rejected.load(), programs.size())};
  return CompileLowerBound{.batch_size = 1, .translation_unit_count = programs.size(), .wall_seconds = seconds};
}

std::vector<CompileLowerBound> means_of(const std::vector<CompileLowerBound>& measured) {
  std::vector<CompileLowerBound> means;
  for (const CompileLowerBound& one : measured) {
    if (std::ranges::find(means, one.batch_size, &CompileLowerBound::batch_size) != means.end()) continue;
    CompileLowerBound mean{.batch_size = one.batch_size, .translation_unit_count = one.translation_unit_count};
    double count = 0;
    for (const CompileLowerBound& same : measured) {
      if (same.batch_size != one.batch_size) continue;
      mean.wall_seconds += same.wall_seconds;
      ++count;
    }
    mean.wall_seconds /= count;
    means.push_back(mean);
  }
  return means;
}

}  // namespace assay::benchmark
