#include "cli/gpu_options.hpp"

#include <fmt/format.h>

namespace assay::cli {
namespace {

/// What is wrong with the name of a GPU; empty when nothing is.
std::string diagnostic_of(const std::string& text) {
  const bool number = !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
  return number || text == "all" ? "" : fmt::format("found '{}', expected the number of a GPU, or all", text);
}

}  // namespace

void add_gpu_options(CLI::App& command, std::string& gpu, std::size_t& device_bytes) {
  command.add_option("--gpu", gpu, "With cuda: the GPU by its number, or all to share the kernels out")
      ->option_text("{N,all} [0]")
      ->check(diagnostic_of);
  command
      .add_option("--device-memory", device_bytes,
                  "With cuda: what the arrays of one session may take of a GPU's memory, as 512MiB")
      ->option_text("SIZE [1GiB]")
      ->transform(CLI::AsSizeValue(false));
}

}  // namespace assay::cli
