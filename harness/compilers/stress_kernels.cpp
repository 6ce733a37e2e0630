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
/// Counters of two widths, which take part in conditions and in products.
constexpr std::array<std::string_view, 5> kArmsOfCounters{"k = k + 1", "k = (k * 3) & 7", "k = k ^ j",
                                                          "b = b + wp.uint8(j)", "s = s + v * float(k)"};
constexpr std::array<std::string_view, 4> kArmsOfLocalArray{"w[j % 4] = s * v", "w[j % 4] = w[j % 4] + v",
                                                            "s = s + w[(j + 1) % 4] * v", "w[0] = w[3] * 0.5 - v"};
constexpr std::array<std::string_view, 5> kThresholds{"-1.0", "-0.5", "0.0", "0.5", "1.0"};

class StressKernel {
 public:
  explicit StressKernel(std::uint64_t seed)
      : rng_(seed),
        two_states_(rng_.bernoulli(0.4)),
        counters_(rng_.bernoulli(0.25)),
        local_array_(rng_.bernoulli(0.2)) {
    text_ = fmt::format(
        "import warp as wp\n\n\n@wp.kernel\ndef stress_{}(x: wp.array(dtype=float), n: int, out: "
        "wp.array(dtype=float)):\n    i = wp.tid()\n    s = float(1.5)\n",
        seed);
    if (two_states_) text_ += "    t = float(0.5)\n";
    if (counters_) text_ += "    k = int(1)\n    b = wp.uint8(250)\n";
    if (local_array_) text_ += "    w = wp.vec4(0.5, 1.0, -0.25, 2.0)\n";
    text_ += "    for j in range(n):\n";
    text_ += rng_.bernoulli(0.7) ? "        v = x[j]\n" : "        v = x[j] * 0.5 + s * 0.25\n";
    if (rng_.bernoulli(0.25)) add_chain("        ");
    else add_branches(rng_.uniform_int(2, 3), "        ");
    if (rng_.bernoulli(0.3)) add_branches(1, "        ");
    text_ += "    out[i] = s * x[i]";
    if (two_states_) text_ += " + t";
    if (counters_) text_ += " + float(k) * 0.125 + float(b) * x[i]";
    if (local_array_) text_ += " + w[1] * w[2]";
    text_ += "\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <std::size_t N>
  std::string_view one_of(const std::array<std::string_view, N>& choices) {
    return choices[rng_.uniform_int<std::size_t>(0, N - 1)];
  }

  std::string_view arm() {
    if (two_states_ && rng_.bernoulli(0.35)) return one_of(kArmsOfSecondState);
    if (counters_ && rng_.bernoulli(0.35)) return one_of(kArmsOfCounters);
    if (local_array_ && rng_.bernoulli(0.35)) return one_of(kArmsOfLocalArray);
    return one_of(kArms);
  }

  void add_arm(const std::string& indentation) { text_ += fmt::format("{}{}\n", indentation, arm()); }

  std::string condition() {
    if (counters_ && rng_.bernoulli(0.3))
      return fmt::format("{} > {}", rng_.bernoulli(0.5) ? "k" : "int(b)", rng_.uniform_int(0, 4));
    const std::string test = fmt::format("v {} {}", rng_.bernoulli(0.5) ? ">" : "<", one_of(kThresholds));
    // May be false for every v: a dead arm.
    if (rng_.bernoulli(0.15))
      return fmt::format("{} and v {} {}", test, rng_.bernoulli(0.5) ? ">" : "<", one_of(kThresholds));
    return test;
  }

  void add_branches(int depth, const std::string& indentation) {
    if (depth == 0 || rng_.bernoulli(0.1)) return add_arm(indentation);
    const std::string inner = indentation + "    ";
    text_ += fmt::format("{}if {}:\n", indentation, condition());
    add_branches(depth - 1, inner);
    if (rng_.bernoulli(0.1)) return;
    text_ += indentation + "else:\n";
    add_branches(depth - 1, inner);
  }

  /// Tests of one value one after another, like a switch.
  void add_chain(const std::string& indentation) {
    const bool switches = rng_.bernoulli(0.5);
    const int arms = rng_.uniform_int(3, 5);
    for (int a = 0; a < arms; ++a) {
      const std::string test = switches ? fmt::format("(j + 1) % {} == {}", arms + 1, a) : condition();
      text_ += fmt::format("{}{} {}:\n", indentation, a == 0 ? "if" : "elif", test);
      add_branches(1, indentation + "    ");
    }
    text_ += indentation + "else:\n";
    add_arm(indentation + "    ");
  }

  Rng rng_;
  bool two_states_;
  bool counters_;     ///< whether integers of two widths count and decide
  bool local_array_;  ///< whether a vector is indexed by the number of the iteration
  std::string text_;
};

}  // namespace

std::string stress_kernel(std::uint64_t seed) { return StressKernel(seed).text(); }

}  // namespace assay::compilers
