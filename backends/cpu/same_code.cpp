#include "backends/cpu/same_code.hpp"

#include <fstream>
#include <sstream>

#include "backends/cpu/compiler.hpp"
#include "backends/device/scratch_directory.hpp"

namespace assay::cpu {
namespace {

constexpr std::chrono::seconds kLimit{30};

Result<std::string> assembly_of(const Compiler& compiler, const std::filesystem::path& folder,
                                const backends::EmittedKernel& kernel, backends::Precision precision) {
  // Both kernels use the same file name, because the assembly contains it.
  const std::filesystem::path source = folder / "kernel.cpp";
  const std::filesystem::path assembly = folder / "kernel.s";
  std::ofstream file(source);
  if (precision == backends::Precision::kPromoted) file << "#define ASSAY_REAL double\n";
  file << kernel.source();
  file.close();
  if (!file) return Error{"cannot be written", source.string()};
  const ProcessResult made = compiler.build_assembly(source, assembly, {.optimisation = 2}, kLimit);
  if (!made.succeeded()) return Error{"the compiler rejected the kernel: " + made.output, kernel.name};
  std::ostringstream text;
  text << std::ifstream(assembly).rdbuf();
  return text.str();
}

}  // namespace

Result<bool> same_optimised_code(const std::string& command, const backends::EmittedKernel& a,
                                 const backends::EmittedKernel& b) {
  const Result<Compiler> compiler = Compiler::find(command);
  if (!compiler.ok()) return compiler.error();
  const Result<backends::ScratchDirectory> folder =
      backends::ScratchDirectory::create(std::filesystem::temp_directory_path() / "assay-code");
  if (!folder.ok()) return folder.error();
  for (const backends::Precision precision : {backends::Precision::kNative, backends::Precision::kPromoted}) {
    const Result<std::string> first = assembly_of(*compiler, folder->path(), a, precision);
    const Result<std::string> second = assembly_of(*compiler, folder->path(), b, precision);
    if (!first.ok() || !second.ok()) return (first.ok() ? second : first).error();
    if (*first != *second) return false;
  }
  return true;
}

}  // namespace assay::cpu
