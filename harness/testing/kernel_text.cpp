#include "harness/testing/kernel_text.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "frontend/warp/parse/reader.hpp"

namespace assay::harness::testing {

KernelSource kernel_of(const std::string& python) {
  const std::string text = "import warp as wp\n" + python;
  Result<frontend::ParsedFile> read = frontend::parse_python(text, "kernel.py");
  std::string trouble;
  if (!read.ok()) {
    trouble = read.error().text();
  } else if (read->module.kernels.size() != 1) {
    for (const frontend::Diagnostic& diagnostic : read->diagnostics)
      trouble += diagnostic.text() + "\n";
    if (trouble.empty()) trouble = "no kernel";
  }
  if (!trouble.empty()) {
    std::fprintf(stderr, "cannot parse the test's kernel: %s\n%s\n", trouble.c_str(), text.c_str());
    std::abort();
  }
  KernelSource source{.family = "test", .kernel = read->module.kernels[0].name, .file = "kernel.py", .python = text};
  source.module = std::make_shared<const ir::Module>(std::move(read->module));
  source.selector = "kernel.py:" + source.kernel;
  return source;
}

}  // namespace assay::harness::testing
