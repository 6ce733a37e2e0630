#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "backends/source/helper_texts.hpp"
#include "backends/source/helpers.hpp"
#include "backends/source/lines.hpp"
#include "backends/source/print_parts.hpp"
#include "ir/analysis.hpp"

namespace assay::source {
namespace {

/// Threads per dimension of a launch, and extent of each array dimension, by number of dimensions; small enough to
/// print.
constexpr std::array<int, 5> kExtents = {64, 64, 16, 8, 4};

class HostPrinter {
 public:
  explicit HostPrinter(const SourceUnit& unit) : unit_(unit) {}

  void prologue(int rank) {
    lines_.blank();
    lines_.add("// Threads per dimension of the launch, and extent of each dimension of an array.");
    lines_.add(fmt::format("static const int kExtent = {};", kExtents[static_cast<std::size_t>(rank)]));
    lines_.append(kHostProgram);
    lines_.append(host_parts(unit_.helpers()));
  }

  /// Prints fill_sample and show_value of a struct, field by field.
  void structure(int id) {
    const auto& fields = unit_.module().structs[static_cast<std::size_t>(id)].fields;
    const auto each = [&](std::string_view head, std::string_view call) {
      lines_.blank();
      lines_.open(head);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        lines_.add(fmt::format(fmt::runtime(call), unit_.field_name(id, static_cast<int>(i)), i));
      }
      lines_.close();
    };
    const std::string& name = unit_.struct_name(id);
    each(fmt::format("inline void fill_sample({}& value, long long number) {{", name),
         "fill_sample(value.{0}, number + {1});");
    each(fmt::format("inline void show_value(const {}& value) {{", name), "show_value(value.{0});");
  }

  void entry(const ir::Function& function, const backends::EntryPoint& entry) {
    NameScopes names;
    for (const char* own : {"fill_sample", "show_value", "require", "kExtent", "kThreadsPerBlock", "kShown", "count"}) {
      names.reserve(own);
    }
    names.reserve(entry.symbol);
    lines_.blank();
    lines_.open(fmt::format("static void run_{}() {{", entry.symbol));
    lines_.add(fmt::format("const long long count = {};", product(function.launch_rank)));
    std::string arguments = "count";
    for (int i = 1; i < function.launch_rank; ++i)
      arguments += ", kExtent";
    const std::size_t extents = static_cast<std::size_t>(function.launch_rank) - 1;
    const ir::ParameterUses uses = ir::parameter_use(unit_.module(), function);
    std::string outputs;
    for (int i = 0; i < function.parameter_count; ++i) {
      const std::string name = names.declare(function.var(i).name);
      lines_.add(fmt::format("{} {};", entry.parameter_types[extents + static_cast<std::size_t>(i)], name));
      lines_.add(fmt::format("fill_sample({}, {});", name, i));
      arguments += ", " + name;
      if (uses[static_cast<std::size_t>(i)].changed()) outputs += show(name);
    }
    if (entry.required_block_threads > 0) {
      lines_.add(fmt::format("{}<<<(unsigned)count, block_threads>>>({});", entry.symbol, arguments));
    } else {
      lines_.add(
          fmt::format("{}<<<(unsigned)((count + kThreadsPerBlock - 1) / kThreadsPerBlock), kThreadsPerBlock>>>({});",
                      entry.symbol, arguments));
    }
    lines_.add(fmt::format("require(cudaGetLastError(), \"launching {}\");", entry.symbol));
    lines_.add(fmt::format("require(cudaDeviceSynchronize(), \"running {}\");", entry.symbol));
    lines_.append(outputs);
    lines_.close();
    calls_ += fmt::format("  std::puts(\"{0}\");\n  run_{0}();\n", entry.symbol);
  }

  std::string finish() {
    lines_.blank();
    lines_.open("int main() {");
    lines_.append(calls_);
    lines_.close();
    return lines_.take();
  }

 private:
  static std::string product(int rank) {
    std::string text = "(long long)kExtent";
    for (int i = 1; i < rank; ++i)
      text += " * kExtent";
    return text;
  }
  static std::string show(const std::string& name) {
    return fmt::format("  std::printf(\"  {0}:\");\n  show_value({0});\n  std::puts(\"\");\n", name);
  }

  const SourceUnit& unit_;
  IndentedLines lines_;
  std::string calls_;
};

}  // namespace

std::string print_cuda_host_program(const SourceUnit& unit, const std::vector<int>& structs,
                                    const ir::Function& forward, const ir::Function* backward,
                                    const std::vector<backends::EntryPoint>& entries) {
  HostPrinter printer(unit);
  printer.prologue(forward.launch_rank);
  for (const int id : structs)
    printer.structure(id);
  printer.entry(forward, entries[0]);
  if (backward != nullptr) printer.entry(*backward, entries[1]);
  return printer.finish();
}

}  // namespace assay::source
