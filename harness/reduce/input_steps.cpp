// Steps that fix inputs in the preconditions above the kernel.
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/reduce/preconditions.hpp"
#include "harness/reduce/step.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

constexpr std::string_view kLaunchAnnotation = "launch:";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool names(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

/// A fractional float, so that rounding changes it; integers that are valid indices of most arrays.
std::vector<std::string> values_for(Type type) {
  if (type.has_float_components()) return {"0.75"};
  return type.scalar == Scalar::kBool ? std::vector<std::string>{} : std::vector<std::string>{"1", "0"};
}

}  // namespace

void drop_preconditions_about(Function& kernel, std::string_view parameter) {
  std::erase_if(kernel.annotations,
                [parameter](const std::string& precondition) { return names(precondition, parameter); });
}

void drop_launch_annotation(Function& kernel) {
  std::erase_if(kernel.annotations,
                [](const std::string& precondition) { return precondition.starts_with(kLaunchAnnotation); });
}

void drop_preconditions(Module& module, const Choose& choose) {
  std::erase_if(module.kernels.front().annotations, [&](const std::string&) { return choose(); });
}

void fix_launch(Module& module, const Choose& choose) {
  Function& kernel = module.kernels.front();
  bool done = false;
  for (const int extent : {1, 2, 4}) {
    if (!choose() || done) continue;
    const std::vector<int> extents(static_cast<std::size_t>(kernel.launch_rank), extent);
    drop_launch_annotation(kernel);
    kernel.annotations.push_back(
        fmt::format("{} ({}{})", kLaunchAnnotation, fmt::join(extents, ", "), extents.size() == 1 ? "," : ""));
    done = true;
  }
}

void fix_inputs(Module& module, const Choose& choose) {
  Function& kernel = module.kernels.front();
  for (VarId p = 0; p < kernel.parameter_count; ++p) {
    const Variable& parameter = kernel.var(p);
    bool done = false;
    for (const std::string& value : values_for(parameter.type)) {
      if (!choose() || done) continue;
      drop_preconditions_about(kernel, parameter.name);
      kernel.annotations.push_back(fmt::format("domain: {0} <= {1} <= {0}", value, parameter.name));
      done = true;
    }
  }
}

}  // namespace assay::reduce
