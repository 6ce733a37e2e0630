#include "backends/ptx/faulty_compiler.hpp"

#include <array>
#include <regex>
#include <string_view>

#include "support/fault_injection.hpp"

namespace assay::ptx {

namespace {

/// Replaces each match of a regular expression in the PTX for one target or all.
struct CompilerFault {
  std::string_view name;
  std::string_view architecture;  ///< empty: all
  const char* pattern;
  const char* replacement;
};
constexpr std::array<CompilerFault, 5> kCompilerFaults{
    {{"compiler_drops_branch", "", R"(selp\.(f32|f64)\s+(%\w+), (%\w+), [^;]*;)", "mov.$1 $2, $3;"},
     {"compiler_mul_is_add", "", R"(mul(\.rn)?\.f(32|64))", "add$1.f$2"},
     {"compiler_inverts_comparison", "compute_100", R"(setp\.gt\.f(32|64))", "setp.le.f$1"},
     {"compiler_sub_is_add", "", R"(sub(\.rn)?\.f(32|64))", "add$1.f$2"},
     {"compiler_inverts_select", "compute_75", R"((selp\.f(?:32|64)\s+%\w+, )([^,]+), ([^,]+), )", "$1$3, $2, "}}};

}  // namespace

std::string compiled_faultily(std::string ptx, const cuda::NvrtcOptions& options) {
  if constexpr (!kFaultInjectionEnabled) return ptx;
  if (options.disables_optimizations) return ptx;
  for (const CompilerFault& fault : kCompilerFaults) {
    if (!fault_is_active(fault.name)) continue;
    if (!fault.architecture.empty() && fault.architecture != options.architecture) continue;
    return std::regex_replace(ptx, std::regex(fault.pattern), fault.replacement);
  }
  return ptx;
}

}  // namespace assay::ptx
