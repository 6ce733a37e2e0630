#include "harness/dataset/row_ptx.hpp"

#include <regex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "support/hash.hpp"

namespace assay::dataset {
namespace {

/// Length in bytes of the beginning of PTX text that contains its directives and comments.
constexpr std::size_t kHeaderBytes = 1024;

std::string first_group(const std::string& text, const char* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : "";
}

/// The library that compiles for this architecture.
Result<cuda::Nvrtc> library_for(const std::string& architecture) {
  Result<cuda::Nvrtc> library = cuda::Nvrtc::load();
  if (!library.ok()) return Error{fmt::format("--with-ptx needs NVRTC: {}", library.error().text())};
  if (!library->supports(architecture)) {
    return Error{fmt::format("--with-ptx: NVRTC {} does not support {}", library->full_version(), architecture)};
  }
  return library;
}

}  // namespace

Result<PtxCompiler> find_ptx_compiler(const std::string& architecture) {
  const Result<cuda::Nvrtc> library = library_for(architecture);
  if (!library.ok()) return library.error();
  return PtxCompiler{.architecture = architecture, .version = fmt::format("NVRTC {}", library->full_version())};
}

Result<RowPtxCompiler> make_ptx_compiler(const DatasetPlan& plan) {
  if (plan.ptx.architecture.empty()) return RowPtxCompiler();
  Result<cuda::Nvrtc> library = library_for(plan.ptx.architecture);
  if (!library.ok()) return library.error();
  const cuda::NvrtcOptions options{.architecture = plan.ptx.architecture, .flags = backends::BuildFlags::standard()};
  return RowPtxCompiler([nvrtc = library.take(), options](const DatasetRow& row) -> Result<std::string> {
    cuda::CompileOutcome outcome = nvrtc.compile(row.cuda_source, row.kernel_name + ".cu", options);
    if (auto* const code = std::get_if<cuda::CompiledCode>(&outcome)) return std::move(code->ptx);
    return Error{
        fmt::format("NVRTC rejects the CUDA source of the row: {}", std::get<backends::BuildFailed>(outcome).log),
        row.kernel_name};
  });
}

RowPtxSummary summarize_ptx(const std::string& ptx) {
  if (ptx.empty()) return {};
  // Both are stated before the first function.
  const std::string header = ptx.substr(0, kHeaderBytes);
  const std::string number = first_group(header, R"(\.target sm_([0-9]+[a-z]?))");
  return {.architecture = number.empty() ? "" : "compute_" + number,
          .compiler = first_group(header, R"(// (Cuda compilation tools, [^\n]*))"),
          .sha256 = sha256_hex(ptx)};
}

std::string missing_ptx_entry(const DatasetRow& row) {
  constexpr std::string_view kEntry = "extern \"C\" __global__ void ";
  const std::string& source = row.cuda_source;
  for (std::size_t at = source.find(kEntry); at != std::string::npos; at = source.find(kEntry, at + 1)) {
    const std::size_t begin = at + kEntry.size();
    const std::string name = source.substr(begin, source.find('(', begin) - begin);
    if (row.ptx.find(fmt::format(".entry {}(", name)) == std::string::npos) return name;
  }
  return "";
}

}  // namespace assay::dataset
