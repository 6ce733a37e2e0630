#include "harness/suite/select/random_kernels.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "backends/source/warp/writer.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "ir/text.hpp"

namespace assay::harness {
namespace {

Error defect(const std::string& name, const std::string& what) {
  return {fmt::format("internal error: {}", what), name};
}

void name_source(KernelSource& source, const std::string& name) {
  const std::size_t slash = name.find('/');
  source.family = name.substr(0, slash);
  source.kernel = name.substr(slash + 1);
  source.selector = name;
  source.file.clear();
}

/// The name of the kernel's Python text.
std::string file_of(const generators::GeneratedKernel& made, const RenameModule& rename) {
  return (rename == nullptr ? made.name : made.module.kernels[0].name) + ".py";
}

/// Gives the kernel other names, which the text that a generator wrote does not have.
void apply(const RenameModule& rename, generators::GeneratedKernel& made) {
  if (rename == nullptr) return;
  rename(made.module);
  made.python.clear();
}

Result<KernelSource> source_of(const generators::GeneratedKernel& made, const std::string& file) {
  Result<std::string> python =
      made.python.empty() ? source::warp::write_kernel(made.module, 0) : Result<std::string>(made.python);
  if (!python.ok())
    return defect(made.name, "the generated kernel cannot be written as Python: " + python.error().text());
  Result<KernelSet> read = read_text(*python, file);
  if (!read.ok())
    return defect(made.name, "the Python text of the generated kernel cannot be parsed: " + read.error().text());
  if (read->kernels.size() != 1)
    return defect(made.name, "the Python text of the generated kernel does not define exactly one kernel");
  KernelSource source = std::move(read->kernels.front());
  if (source.parse_error)
    return defect(made.name, "the Python text of the generated kernel cannot be parsed: " + source.parse_error->text());
  const auto canonical = [](const ir::Module& module) { return ir::to_text(module, ir::NamingScheme::kCanonical); };
  if (canonical(*source.module) != canonical(made.module))
    return defect(made.name, "the Python text of the generated kernel is parsed as a different program");
  name_source(source, made.name);
  return source;
}

}  // namespace

Result<KernelSource> random_kernel(std::string_view name, const RenameModule& rename) {
  Result<generators::GeneratedKernel> made = generators::generate_named(name);
  if (!made.ok()) return made.error();
  apply(rename, *made);
  return source_of(*made, file_of(*made, rename));
}

Result<KernelSource> random_kernel(generators::Family family, std::uint64_t seed) {
  const generators::GeneratedKernel made = generators::generate(family, seed);
  return source_of(made, file_of(made, nullptr));
}

Result<KernelSource> unparsed_random_kernel(std::string_view name, const RenameModule& rename) {
  Result<generators::GeneratedKernel> made = generators::generate_named(name);
  if (!made.ok()) return made.error();
  apply(rename, *made);
  const std::string file = file_of(*made, rename);
  if (!made->python.empty()) return source_of(*made, file);
  Result<std::optional<source::warp::WrittenModule>> written = source::warp::write_module(made->module, file);
  if (!written.ok())
    return defect(made->name, "the generated kernel cannot be written as Python: " + written.error().text());
  if (!written->has_value()) return source_of(*made, file);
  source::warp::WrittenModule& whole = **written;
  KernelSource source{.module = std::make_shared<const ir::Module>(std::move(whole.module)),
                      .python = std::move(whole.python_source)};
  name_source(source, made->name);
  return source;
}

bool is_random_name(std::string_view kernel) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  const std::size_t underscore = kernel.find('_');
  return kernel.starts_with('r') && underscore != std::string_view::npos &&
         is_number(kernel.substr(1, underscore - 1)) && is_number(kernel.substr(underscore + 1));
}

}  // namespace assay::harness
