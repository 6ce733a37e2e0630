// Mutations that the IR cannot express: of array strides, the thread guard, and the shared memory of a thread block.
#include <regex>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"

namespace assay::mutation {
namespace {

using backends::EmittedKernel;

/// The backward entry point, from its name to the end of the body.
struct Backward {
  std::size_t begin = 0;
  std::size_t opening = 0;  ///< of the brace that opens its body
};
std::optional<Backward> backward_of(const EmittedKernel& kernel) {
  for (const backends::EntryPoint& entry : kernel.entry_points) {
    if (entry.pass != backends::Pass::kBackward) continue;
    const std::size_t begin = kernel.body.find(" " + entry.symbol + "(");
    if (begin == std::string::npos) return std::nullopt;
    return Backward{begin, kernel.body.find("{\n", begin)};
  }
  return std::nullopt;
}

/// Gives the gradient the strides of its array.
void find_strides(const EmittedKernel& kernel, const Backward& backward, std::vector<TextMutation>& found) {
  const std::string head = kernel.body.substr(backward.begin, backward.opening - backward.begin);
  static const std::regex kGradient(R"(Array<(?:[^<>]|<[^<>]*>)*> grad_(\w+))");
  for (auto match = std::sregex_iterator(head.begin(), head.end(), kGradient); match != std::sregex_iterator();
       ++match) {
    const std::string name = (*match)[1];
    static const std::regex kArray(R"(Array<(?:[^<>]|<[^<>]*>)*> (\w+))");
    bool has_primal = false;
    for (auto array = std::sregex_iterator(head.begin(), head.end(), kArray); array != std::sregex_iterator(); ++array)
      has_primal = has_primal || (*array)[1] == name;
    // The strides of a gradient that the backward kernel never changes have no effect.
    const std::regex use("\\bgrad_" + name + "\\b");
    if (!has_primal || !std::regex_search(kernel.body.substr(backward.opening), use)) continue;
    TextMutation mutation{MutationOperator::kWrongGradientStrides,
                          fmt::format("'grad_{0}' has the strides of '{0}'", name), kernel};
    mutation.kernel.body.insert(backward.opening + 2,
                                fmt::format("  for (int d = 0; d < int(sizeof {0}.strides / sizeof {0}.strides[0]); "
                                            "++d) grad_{0}.strides[d] = {0}.strides[d];\n",
                                            name));
    found.push_back(std::move(mutation));
  }
}

/// Replaces the first `text` after `from`.
void replace_text(MutationOperator op, const EmittedKernel& kernel, std::size_t from, const std::string& text,
                  const std::string& by, std::vector<TextMutation>& found) {
  const std::size_t at = kernel.body.find(text, from);
  if (at == std::string::npos) return;
  TextMutation mutation{op, fmt::format("'{}' becomes '{}'", text, by), kernel};
  mutation.kernel.body.replace(at, text.size(), by);
  found.push_back(std::move(mutation));
}

/// Replaces the n-th `text` in the helpers, for each n. With `mark`, also stores the kernel with `mark` in its place.
void change_helpers(MutationOperator op, const EmittedKernel& kernel, const std::string& text, const std::string& by,
                    std::vector<TextMutation>& found, const std::string& mark = "") {
  for (std::size_t h = 0; h < kernel.helpers.size(); ++h) {
    const std::string& helper = kernel.helpers[h].text;
    for (std::size_t at = helper.find(text); at != std::string::npos; at = helper.find(text, at + text.size())) {
      TextMutation mutation{op, fmt::format("in '{}': '{}' becomes '{}'", kernel.helpers[h].name, text, by), kernel};
      mutation.kernel.helpers[h].text.replace(at, text.size(), by);
      if (!mark.empty())
        mutation.kernel_with_marked_barrier.emplace(kernel).helpers[h].text.replace(at, text.size(), mark);
      found.push_back(std::move(mutation));
    }
  }
}

}  // namespace

std::vector<TextMutation> find_text_mutations(MutationOperator op, const EmittedKernel& kernel) {
  std::vector<TextMutation> found;
  const std::optional<Backward> backward = backward_of(kernel);
  if (!backward) return found;
  switch (op) {
    case MutationOperator::kWrongGradientStrides: find_strides(kernel, *backward, found); break;
    case MutationOperator::kNoThreadGuard:
      replace_text(op, kernel, backward->opening, "thread < end", "thread <= end", found);
      replace_text(op, kernel, backward->opening, "thread < count", "thread <= count", found);
      break;
    case MutationOperator::kMissingBarrier:
      change_helpers(op, kernel, "  tile_barrier();\n", "", found, "  asm volatile(\"bar.sync 1;\" ::: \"memory\");\n");
      break;
    case MutationOperator::kUnclearedSharedSum:
      change_helpers(op, kernel, "T sum = 0;", "__shared__ T uncleared;\n      T sum = uncleared;", found);
      break;
    case MutationOperator::kOnlyFirstWarpParticipates:
      change_helpers(op, kernel, "k * block_threads + tile_lane();\n    if (",
                     "k * block_threads + tile_lane();\n    if (tile_lane() < 32 && ", found);
      break;
    default: break;
  }
  return found;
}

}  // namespace assay::mutation
