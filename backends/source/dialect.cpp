#include "backends/source/dialect.hpp"

#include <fmt/format.h>

namespace assay::source {
namespace {

class CppDialect final : public Dialect {
 public:
  std::string_view function_qualifier() const override { return "static "; }
  std::string_view entry_qualifier() const override { return "extern \"C\" void "; }

  std::vector<std::string> range_parameters(FunctionPrinter& printer) override {
    begin_ = printer.internal_name("begin");
    end_ = printer.internal_name("end");
    return {"long long " + begin_, "long long " + end_};
  }

  void open_threads(Lines& lines, FunctionPrinter&, std::string_view thread) override { open_blocks(lines, thread); }
  void open_blocks(Lines& lines, std::string_view block) override {
    lines.open(fmt::format("for (long long {0} = {1}; {0} < {2}; ++{0}) {{", block, begin_, end_));
  }

 private:
  std::string begin_;
  std::string end_;
};

class CudaDialect final : public Dialect {
 public:
  std::string_view function_qualifier() const override { return "static __device__ "; }
  std::string_view entry_qualifier() const override { return "extern \"C\" __global__ void "; }

  std::vector<std::string> range_parameters(FunctionPrinter& printer) override {
    count_ = printer.internal_name("count");
    return {"long long " + count_};
  }

  void open_threads(Lines& lines, FunctionPrinter& printer, std::string_view thread) override {
    const std::string first = printer.internal_name("first");
    const std::string stride = printer.internal_name("stride");
    lines.add(fmt::format("const long long {} = (long long)blockIdx.x * blockDim.x + threadIdx.x;", first));
    lines.add(fmt::format("const long long {} = (long long)gridDim.x * blockDim.x;", stride));
    lines.open(fmt::format("for (long long {0} = {1}; {0} < {2}; {0} += {3}) {{", thread, first, count_, stride));
  }
  void open_blocks(Lines& lines, std::string_view block) override {
    lines.open(fmt::format("for (long long {0} = blockIdx.x; {0} < {1}; {0} += gridDim.x) {{", block, count_));
  }

 private:
  std::string count_;
};

}  // namespace

std::unique_ptr<Dialect> make_dialect(backends::SourceTarget target) {
  if (target == backends::SourceTarget::kCpp) return std::make_unique<CppDialect>();
  return std::make_unique<CudaDialect>();
}

}  // namespace assay::source
