#include "harness/compilers/stress_kernels.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "support/rng.hpp"

namespace assay::compilers {
namespace {

constexpr std::array<std::string_view, 10> kArms{
    "s = s * v",         "s = s + v * v",    "s = s - wp.sin(s * v)",
    "s = s * 0.5 + v",   "s = s + 0.25",     "s = v - s * 0.5",
    "s = s * wp.cos(v)", "s = wp.max(s, v)", "s = s + wp.sqrt(v * v + 1.0)",
    "s = s - v"};
constexpr std::array<std::string_view, 4> kArmsOfSecondState{"t = t + s * v", "t = t * 0.5 - v", "t = s",
                                                             "s = s + t * v"};
constexpr std::array<std::string_view, 5> kThresholds{"-1.0", "-0.5", "0.0", "0.5", "1.0"};

class StressKernel {
 public:
  explicit StressKernel(std::uint64_t seed) : rng_(seed), two_states_(rng_.bernoulli(0.4)) {
    text_ = fmt::format(
        "import warp as wp\n\n\n@wp.kernel\ndef stress_{}(x: wp.array(dtype=float), n: int, out: "
        "wp.array(dtype=float)):\n    i = wp.tid()\n    s = float(1.5)\n",
        seed);
    if (two_states_) text_ += "    t = float(0.5)\n";
    text_ += "    for j in range(n):\n";
    text_ += rng_.bernoulli(0.7) ? "        v = x[j]\n" : "        v = x[j] * 0.5 + s * 0.25\n";
    const int depth = rng_.uniform_int(2, 3);
    add_branches(depth, "        ");
    if (rng_.bernoulli(0.3)) add_branches(1, "        ");
    text_ += two_states_ ? "    out[i] = s * x[i] + t\n" : "    out[i] = s * x[i]\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <std::size_t N>
  std::string_view one_of(const std::array<std::string_view, N>& choices) {
    return choices[rng_.uniform_int<std::size_t>(0, N - 1)];
  }

  void add_arm(const std::string& indentation) {
    const bool second = two_states_ && rng_.bernoulli(0.35);
    text_ += fmt::format("{}{}\n", indentation, second ? one_of(kArmsOfSecondState) : one_of(kArms));
  }

  void add_branches(int depth, const std::string& indentation) {
    if (depth == 0 || rng_.bernoulli(0.1)) return add_arm(indentation);
    const std::string inner = indentation + "    ";
    text_ += fmt::format("{}if v {} {}:\n", indentation, rng_.bernoulli(0.5) ? ">" : "<", one_of(kThresholds));
    add_branches(depth - 1, inner);
    if (rng_.bernoulli(0.1)) return;
    text_ += indentation + "else:\n";
    add_branches(depth - 1, inner);
  }

  Rng rng_;
  bool two_states_;
  std::string text_;
};

}  // namespace

std::string stress_kernel(std::uint64_t seed) { return StressKernel(seed).text(); }

}  // namespace assay::compilers
