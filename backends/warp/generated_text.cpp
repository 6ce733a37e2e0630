#include "backends/warp/generated_text.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/device/artifact_files.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/warp/builder.hpp"
#include "support/files.hpp"

namespace assay::warp {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Reads the file that host.py wrote.
Result<GeneratedSources> read_generated_text(const fs::path& file) {
  const Result<std::string> text = read_file_text(file);
  if (!text.ok()) return text.error();
  const json members = json::parse(*text, nullptr, false);
  if (!members.is_object()) return Error{"the Warp process returned an invalid result", file.string()};
  return GeneratedSources{.cpu_forward = members.at("cpu_forward"),
                          .cpu_backward = members.at("cpu_backward"),
                          .cuda_forward = members.at("cuda_forward"),
                          .cuda_backward = members.at("cuda_backward"),
                          .cpu_source = members.at("cpu_source"),
                          .cuda_source = members.at("cuda_source")};
}

}  // namespace

Result<std::vector<Result<GeneratedSources>>> generate_sources(const WarpInterpreter& interpreter,
                                                               std::span<const GeneratedCodeRequest> requests) {
  const Result<backends::ScratchDirectory> scratch =
      backends::make_artifact_directory(backends::default_cache_directory());
  if (!scratch.ok()) return scratch.error();
  const fs::path& folder = scratch->path();
  // The process only generates code, so a cache of built kernels would hide it.
  const PythonHostSettings settings{
      .device_name = "text", .cache_directory = folder / "no-cache", .architectures = {75}};
  if (const Result<void> written = write_host(folder, settings); !written.ok()) return written.error();
  std::vector<std::string> names, distinct;
  for (const GeneratedCodeRequest& request : requests) {
    const backends::PythonBinding binding{.threads_per_tile_block = request.threads_per_tile_block};
    Result<std::string> name =
        write_kernel(folder, binding, {.kernel_name = request.kernel_name, .text = request.python_source}, true);
    if (!name.ok()) return name.error();
    names.push_back(name.take());
    if (std::ranges::find(distinct, names.back()) == distinct.end()) distinct.push_back(names.back());
  }
  const std::map<std::string, KernelBuildResult> answers =
      build(interpreter, folder, distinct, PythonHostCommand::kWriteGeneratedCode);
  std::vector<Result<GeneratedSources>> texts;
  for (const std::string& name : names) {
    const auto answer = answers.find(name);
    if (answer == answers.end()) return Error{"the Warp process returned no result"};
    const KernelBuildResult& built = answer->second;
    using Status = KernelBuildResult::Status;
    if (built.status == Status::kResourceFailure || built.status == Status::kUnavailable) return Error{built.message};
    if (built.status == Status::kBuilt) texts.push_back(read_generated_text(folder / (name + ".text.json")));
    else texts.emplace_back(Error{built.message});
  }
  return texts;
}

}  // namespace assay::warp
