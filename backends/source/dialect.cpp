#include "backends/source/dialect.hpp"

#include "support/concat.hpp"

namespace assay::source {
namespace {

class CppDialect final : public Dialect {
 public:
  std::string_view function_qualifier() const override { return "static "; }
  std::string_view entry_qualifier() const override { return "extern \"C\" void "; }

  std::vector<std::string> range_parameters(const ThreadLoopNames& names) const override {
    return {concat("long long ", names.range_begin), concat("long long ", names.range_end)};
  }

  void open_threads(IndentedLines& lines, const ThreadLoopNames& names, std::string_view thread) const override {
    open_blocks(lines, names, thread);
  }
  void open_blocks(IndentedLines& lines, const ThreadLoopNames& names, std::string_view block) const override {
    lines.open("for (long long ", block, " = ", names.range_begin, "; ", block, " < ", names.range_end, "; ++", block,
               ") {");
  }
};

class CudaDialect final : public Dialect {
 public:
  std::string_view function_qualifier() const override { return "static __device__ "; }
  std::string_view entry_qualifier() const override { return "extern \"C\" __global__ void "; }

  std::vector<std::string> range_parameters(const ThreadLoopNames& names) const override {
    return {concat("long long ", names.thread_count)};
  }

  void open_threads(IndentedLines& lines, const ThreadLoopNames& names, std::string_view thread) const override {
    lines.add("const long long ", names.first_index, " = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
    lines.add("const long long ", names.grid_stride, " = (long long)gridDim.x * blockDim.x;");
    open_loop(lines, thread, names.first_index, names.thread_count, names.grid_stride);
  }
  void open_blocks(IndentedLines& lines, const ThreadLoopNames& names, std::string_view block) const override {
    open_loop(lines, block, "blockIdx.x", names.thread_count, "gridDim.x");
  }

 private:
  static void open_loop(IndentedLines& lines, std::string_view number, std::string_view first, std::string_view count,
                        std::string_view stride) {
    lines.open("for (long long ", number, " = ", first, "; ", number, " < ", count, "; ", number, " += ", stride,
               ") {");
  }
};

}  // namespace

ThreadLoopNames::ThreadLoopNames(FunctionPrinter& printer)
    : range_begin(printer.internal_name("begin")),
      range_end(printer.internal_name("end")),
      thread_count(printer.internal_name("count")),
      first_index(printer.internal_name("first")),
      grid_stride(printer.internal_name("stride")) {}

const Dialect& dialect_of(backends::SourceTarget target) {
  static const CppDialect cpp;
  static const CudaDialect cuda;
  if (target == backends::SourceTarget::kCpp) return cpp;
  return cuda;
}

}  // namespace assay::source
