#include "harness/select/random_kernels.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "frontend/writer.hpp"
#include "harness/select/python_file.hpp"
#include "ir/hash.hpp"

namespace assay::harness {
namespace {

Error defect(const std::string& name, const std::string& what) {
  return {fmt::format("defect of Assay: the generated kernel {}", what), name};
}

Result<KernelSource> source_of(const generators::Generated& made) {
  Result<std::string> python = frontend::write_kernel(made.module, 0);
  if (!python.ok()) return defect(made.name, "cannot be written as Python: " + python.error().text());
  Result<PythonKernels> read = read_text(*python, made.name + ".py");
  if (!read.ok()) return defect(made.name, "cannot be read back: " + read.error().text());
  if (read->kernels.size() != 1) return defect(made.name, "reads back as several");
  KernelSource source = std::move(read->kernels.front());
  if (source.unreadable) return defect(made.name, "cannot be read back: " + source.unreadable->text());
  if (ir::hash(*source.module) != ir::hash(made.module)) return defect(made.name, "reads back as another program");
  const std::size_t slash = made.name.find('/');
  source.family = made.name.substr(0, slash);
  source.kernel = made.name.substr(slash + 1);
  source.selector = made.name;
  source.file.clear();
  return source;
}

}  // namespace

Result<KernelSource> random_kernel(std::string_view name) {
  const Result<generators::Generated> made = generators::generate_named(name);
  if (!made.ok()) return made.error();
  return source_of(*made);
}

Result<std::vector<KernelSource>> random_kernels(generators::Family family, std::uint64_t first, int count) {
  std::vector<KernelSource> sources;
  for (int i = 0; i < count; ++i) {
    Result<KernelSource> source = source_of(generators::generate(family, first + static_cast<std::uint64_t>(i)));
    if (!source.ok()) return source.error();
    sources.push_back(source.take());
  }
  return sources;
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
