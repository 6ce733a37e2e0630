#include "harness/reduce/reducer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/hash.hpp"
#include "ir/verifier.hpp"

namespace assay::reduce {
namespace {

using Clock = std::chrono::steady_clock;

/// Places of a step, ascending.
using Places = std::vector<std::size_t>;

Places joined(const Places& a, const Places& b) {
  Places all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

Places without(const Places& a, const Places& b) {
  Places rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest;
}

/// The places from `first` on, at most `count` of them.
Places part(const Places& places, std::size_t first, std::size_t count) {
  const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, places.size() - first))};
}

std::size_t count_places(const Step& step, ir::Module module) {
  std::size_t count = 0;
  step.walk(module, [&] { return ++count, false; });
  return count;
}

ir::Module taken_at(const Step& step, ir::Module module, const Places& places) {
  std::size_t place = 0;
  auto next = places.begin();
  step.walk(module, [&] {
    const bool chosen = next != places.end() && *next == place++;
    if (chosen) ++next;
    return chosen;
  });
  return module;
}

/// Candidates that are judged together. Large kernels take longer than to start a compiler for them, and after each
/// batch the following ones are smaller.
std::size_t batch_size(const Size& size) {
  constexpr std::int64_t kStatements = 400;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(kStatements / (size.statements + 1), 4, 16));
}

class Reducer {
 public:
  Reducer(const Judge& judge, Budget budget, const Report& report)
      : judge_(judge), budget_(budget), report_(report), start_(Clock::now()) {}

  Result<Reduction> run(const ir::Module& module) {
    if (!begin(module)) return Error{"what is to be reduced does not show in the kernel itself"};
    const Size before = size_of(module);
    bool changed = true;
    while (changed && !is_spent()) {
      changed = false;
      for (const Step& step : steps())
        changed |= take(step);
    }
    return Reduction{.module = current_,
                     .before = before,
                     .after = size_,
                     .trials = trials_,
                     .time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_),
                     .finished = !is_spent()};
  }

 private:
  /// One step at some places of the module that it began with, and what became of that.
  struct Candidate {
    Places places;
    ir::Module module;
    Size size;
  };

  /// Whether there is no time for another batch like the last one.
  bool is_spent() const { return trials_ >= budget_.trials || Clock::now() - start_ + time_of_batch_ >= budget_.time; }

  /// Settles the module, without what is dead where that may go from the start.
  bool begin(const ir::Module& module) {
    std::vector<ir::Module> both{settled(module, Dead::kRemoved), settled(module, Dead::kKept)};
    if (!ir::verify(both.front()).empty()) both.erase(both.begin());
    const std::vector<bool> shown = judge(both);
    if (!shown.back()) return false;
    dead_ = both.size() == 2 && shown.front() ? Dead::kRemoved : Dead::kKept;
    accept("begin", dead_ == Dead::kRemoved ? std::move(both.front()) : std::move(both.back()));
    return true;
  }

  std::vector<bool> judge(const std::vector<ir::Module>& modules) {
    trials_ += std::ssize(modules);
    const Clock::time_point start = Clock::now();
    std::vector<bool> shown = judge_(modules);
    time_of_batch_ = Clock::now() - start;
    return shown;
  }

  void accept(std::string_view step, ir::Module module) {
    current_ = std::move(module);
    size_ = size_of(current_);
    if (report_) report_({.step = step, .size = size_, .trials = trials_});
  }

  /// Nothing if the result is invalid, no smaller, or was judged before.
  std::optional<Candidate> candidate(const Step& step, const ir::Module& base, Places places) {
    ir::Module module = settled(taken_at(step, base, places), dead_);
    if (!ir::verify(module).empty()) return std::nullopt;
    const Size size = size_of(module);
    if (size >= size_ || !tried_.insert(ir::hash(module) + preconditions_of(module)).second) return std::nullopt;
    return Candidate{.places = std::move(places), .module = std::move(module), .size = size};
  }

  /// What the hash of a module leaves out.
  static std::string preconditions_of(const ir::Module& module) {
    std::string text;
    for (const std::string& precondition : module.kernels.front().annotations)
      text += "\n" + precondition;
    return text;
  }

  /// Those of the candidates that still show it.
  std::vector<Candidate> showing(std::vector<Candidate> candidates) {
    if (candidates.empty() || is_spent()) return {};
    std::vector<ir::Module> modules;
    for (const Candidate& candidate : candidates)
      modules.push_back(candidate.module);
    const std::vector<bool> shown = judge(modules);
    std::vector<Candidate> good;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (shown[i]) good.push_back(std::move(candidates[i]));
    return good;
  }

  /// Takes the step at as many places as it can be taken at. Whether that was any.
  bool take(const Step& step) {
    const ir::Module base = current_;
    Places left(count_places(step, base));
    for (std::size_t place = 0; place < left.size(); ++place)
      left[place] = place;
    Places taken;
    for (std::size_t chunk = left.size(); chunk > 0 && !is_spent(); chunk /= 2) {
      if (step.takes_most) take_most(step, base, taken, left, chunk);
      chunk = std::min(chunk, std::max<std::size_t>(left.size(), 1));
      take_chunks(step, base, taken, left, chunk);
    }
    return !taken.empty();
  }

  /// False, and nothing is taken, if the candidate does not show it by itself.
  bool take_these(const Step& step, Candidate candidate, Places& taken, Places& left) {
    if (!judge({candidate.module}).front()) return false;
    taken = std::move(candidate.places);
    left = without(left, taken);
    accept(step.name, std::move(candidate.module));
    return true;
  }

  /// Tries all of the places that are left but one chunk, unless there are too many chunks for that to be likely.
  void take_most(const Step& step, const ir::Module& base, Places& taken, Places& left, std::size_t chunk) {
    constexpr std::size_t kMostChunks = 16;
    if (chunk * kMostChunks < left.size()) return;
    for (std::size_t first = 0; first < left.size() && chunk < left.size();) {
      std::vector<Candidate> candidates;
      for (; first < left.size() && candidates.size() < batch_size(size_); first += chunk) {
        const Places rest = without(left, part(left, first, chunk));
        if (auto made = candidate(step, base, joined(taken, rest))) candidates.push_back(std::move(*made));
      }
      std::vector<Candidate> good = showing(std::move(candidates));
      if (good.empty()) continue;
      if (take_these(step, std::move(*std::ranges::min_element(good, {}, &Candidate::size)), taken, left)) return;
    }
  }

  /// Tries chunk after chunk of the places that are left.
  void take_chunks(const Step& step, const ir::Module& base, Places& taken, Places& left, std::size_t chunk) {
    const Places all = left;
    for (std::size_t first = 0; first < all.size() && !is_spent();) {
      std::vector<Candidate> candidates;
      for (; first < all.size() && candidates.size() < batch_size(size_); first += chunk) {
        const Places places = joined(taken, part(all, first, chunk));
        if (auto made = candidate(step, base, places)) candidates.push_back(std::move(*made));
      }
      if (auto best = together(step, base, showing(std::move(candidates)))) {
        take_these(step, std::move(*best), taken, left);
      }
    }
  }

  /// Of candidates that show it each by itself, as many of the first as show it together.
  std::optional<Candidate> together(const Step& step, const ir::Module& base, std::vector<Candidate> good) {
    if (good.empty()) return std::nullopt;
    std::vector<Candidate> unions;
    for (std::size_t count = good.size(); count > 1; count /= 2) {
      Places places;
      for (std::size_t g = 0; g < count; ++g)
        places = joined(places, good[g].places);
      if (auto made = candidate(step, base, std::move(places))) unions.push_back(std::move(*made));
    }
    std::vector<Candidate> shown = showing(std::move(unions));
    return shown.empty() ? std::move(good.front()) : std::move(shown.front());
  }

  const Judge& judge_;
  const Budget budget_;
  const Report& report_;
  const Clock::time_point start_;
  ir::Module current_;
  Size size_;
  Dead dead_ = Dead::kKept;
  std::int64_t trials_ = 0;
  Clock::duration time_of_batch_{};
  std::unordered_set<std::string> tried_;  ///< by hash
};

}  // namespace

ir::Module alone(const ir::Module& module, std::size_t kernel) {
  ir::Module result{.structs = module.structs,
                    .functions = module.functions,
                    .kernels = {module.kernels[kernel]},
                    .source_name = module.source_name,
                    .source_lines = {},
                    .imported_files = {}};
  return settled(std::move(result), Dead::kKept);
}

Result<Reduction> reduce(const ir::Module& module, const Judge& judge, Budget budget, const Report& report) {
  return Reducer(judge, budget, report).run(module);
}

}  // namespace assay::reduce
