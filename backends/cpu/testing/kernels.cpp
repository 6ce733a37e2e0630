#include "backends/cpu/testing/kernels.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <stdlib.h>

namespace assay::cpu::testing {

using namespace backends;

namespace {

const SourceHelper kArray{"array",
                          "template <class T, int N>\n"
                          "struct Array {\n"
                          "  T* data;\n"
                          "  int shape[N];\n"
                          "  long long strides[N];\n"
                          "};\n"};
const SourceHelper kElement{"element",
                            "template <class T>\n"
                            "T& element(Array<T, 1> array, long long i) {\n"
                            "  return *(T*)((char*)array.data + i * array.strides[0]);\n"
                            "}\n"};
constexpr const char* kReal =
    "#ifndef ASSAY_REAL\n"
    "#define ASSAY_REAL float\n"
    "#endif\n"
    "using real = ASSAY_REAL;\n";

std::string function(const std::string& symbol, const std::string& statement) {
  return fmt::format(
      "extern \"C\" void {}(long long begin, long long end, Array<real, 1> x, real a) {{\n"
      "  for (long long i = begin; i < end; ++i) {{\n"
      "    {}\n"
      "  }}\n"
      "}}\n",
      symbol, statement);
}

EntryPoint entry(Pass pass, const std::string& symbol) {
  return {.pass = pass, .symbol = symbol, .parameter_types = {"Array<real, 1>", "real"}};
}

}  // namespace

EmittedKernel kernel_of(const std::string& name, const std::string& statement) {
  return {.name = name,
          .helpers = {kArray, kElement},
          .body = kReal + function(name + "_forward", statement),
          .entry_points = {entry(Pass::kForward, name + "_forward")}};
}

EmittedKernel scale_kernel(const std::string& name) {
  EmittedKernel kernel = kernel_of(name, "element(x, i) = a * element(x, i) + real(1) / real(3);");
  kernel.body += function(name + "_backward", "element(x, i) = a;");
  kernel.entry_points.push_back(entry(Pass::kBackward, name + "_backward"));
  return kernel;
}

CpuOptions options_in(const std::filesystem::path& directory) {
  return {.worker_executable = ASSAY_WORKER, .cache_directory = directory};
}

BuiltKernel require_built(const BuildOutcome& outcome) {
  if (const auto* failed = std::get_if<BuildFailed>(&outcome)) {
    throw std::runtime_error("building a kernel failed: " + failed->log);
  }
  return std::get<BuiltKernel>(outcome);
}

}  // namespace assay::cpu::testing
