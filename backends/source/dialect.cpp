#include "backends/source/dialect.hpp"

#include "support/concat.hpp"

namespace assay::source {
namespace {

class CppDialect final : public Dialect {
 public:
  std::string_view function_qualifier() const override { return "static "; }
  std::string_view entry_qualifier() const override { return "extern \"C\" void "; }

  std::vector<std::string> range_parameters(const ThreadNames& names) const override {
    return {concat("long long ", names.begin), concat("long long ", names.end)};
  }

  void open_threads(IndentedLines& lines, const ThreadNames& names, std::string_view thread) const override {
    open_blocks(lines, names, thread);
  }
  void open_blocks(IndentedLines& lines, const ThreadNames& names, std::string_view block) const override {
    lines.open("for (long long ", block, " = ", names.begin, "; ", block, " < ", names.end, "; ++", block, ") {");
  }
};

class CudaDialect final : public Dialect {
 public:
  std::string_view function_qualifier() const override { return "static __device__ "; }
  std::string_view entry_qualifier() const override { return "extern \"C\" __global__ void "; }

  std::vector<std::string> range_parameters(const ThreadNames& names) const override {
    return {concat("long long ", names.count)};
  }

  void open_threads(IndentedLines& lines, const ThreadNames& names, std::string_view thread) const override {
    lines.add("const long long ", names.first, " = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
    lines.add("const long long ", names.stride, " = (long long)gridDim.x * blockDim.x;");
    open_loop(lines, thread, names.first, names.count, names.stride);
  }
  void open_blocks(IndentedLines& lines, const ThreadNames& names, std::string_view block) const override {
    open_loop(lines, block, "blockIdx.x", names.count, "gridDim.x");
  }

 private:
  static void open_loop(IndentedLines& lines, std::string_view number, std::string_view first, std::string_view count,
                        std::string_view stride) {
    lines.open("for (long long ", number, " = ", first, "; ", number, " < ", count, "; ", number, " += ", stride,
               ") {");
  }
};

}  // namespace

ThreadNames::ThreadNames(FunctionPrinter& printer)
    : begin(printer.internal_name("begin")),
      end(printer.internal_name("end")),
      count(printer.internal_name("count")),
      first(printer.internal_name("first")),
      stride(printer.internal_name("stride")) {}

const Dialect& dialect_of(backends::SourceTarget target) {
  static const CppDialect cpp;
  static const CudaDialect cuda;
  if (target == backends::SourceTarget::kCpp) return cpp;
  return cuda;
}

}  // namespace assay::source
