#include "harness/suite/select/exported_kernel.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "harness/suite/select/kernel_file.hpp"
#include "support/parallel.hpp"

namespace assay::harness {
namespace {

KernelSet unsupported_kernel(const ExportedKernel& exported, Error why) {
  return {.kernels = {{.file = exported.file, .python = exported.source_text, .parse_error = std::move(why)}},
          .notes = {}};
}

KernelSet parse_exported(const ExportedKernel& exported) {
  const std::string place = fmt::format("{}:{}", exported.file, exported.line);
  if (exported.source_text.empty())
    return unsupported_kernel(exported, {"cannot be exported: " + exported.export_error, place});
  Result<KernelSet> read = read_text(exported.source_text, exported.file);
  if (!read.ok()) return unsupported_kernel(exported, read.error());
  if (read->kernels.size() != 1) {
    return unsupported_kernel(
        exported,
        {fmt::format("internal error: exported file must contain one kernel, got {}", read->kernels.size()), place});
  }
  return read.take();
}

}  // namespace

Selection select_exported(std::span<const ExportedKernel> kernels, const std::vector<std::string>& modes) {
  std::vector<KernelSet> sets(kernels.size());
  for_each_index_in_parallel(kernels.size(), std::max(1U, std::thread::hardware_concurrency()),
                             [&](std::size_t k) { sets[k] = parse_exported(kernels[k]); });
  Selection selection;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    KernelSource& source = sets[k].kernels.front();
    source.family = "user";
    source.kernel = kernels[k].kernel;
    source.selector = kernels[k].selector;
    selection.kernels.push_back({.source = std::move(source), .modes = modes});
    for (std::string& text : sets[k].notes)
      selection.notes.push_back({.kind = "selection", .text = std::move(text)});
  }
  return selection;
}

}  // namespace assay::harness
