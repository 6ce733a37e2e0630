// Fuzz test: any text must be parsed and lowered, or rejected with a location.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/parse/module.hpp"

// The name and the type are specified by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  Result<ptx::Module> parsed = ptx::parse(std::string(data, data + size), "fuzz.ptx");
  if (!parsed.ok()) {
    // "fuzz.ptx:LINE:COLUMN: what was found or expected"
    const std::string text = parsed.error().text();
    if (!text.starts_with("fuzz.ptx:") || text.find(": ") == std::string::npos) __builtin_trap();
    return 0;
  }
  const auto module = std::make_shared<const ptx::Module>(parsed.take());
  for (const ptx::Function& function : module->functions) {
    if (function.is_entry && function.is_defined) static_cast<void>(ptx::lower(module, function.name).ok());
  }
  return 0;
}
