#include "harness/reduce/reducer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::reduce {
namespace {

using Clock = std::chrono::steady_clock;

/// Places of a step, in ascending order.
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

std::size_t count_places(const ReductionStep& step, ir::Module module) {
  std::size_t count = 0;
  step.walk(module, [&] { return ++count, false; });
  return count;
}

ir::Module taken_at(const ReductionStep& step, ir::Module module, const Places& places) {
  std::size_t place = 0;
  auto next = places.begin();
  step.walk(module, [&] {
    const bool chosen = next != places.end() && *next == place++;
    if (chosen) ++next;
    return chosen;
  });
  return module;
}

/// Number of candidates judged together. Batches of large kernels are small: their compilation dominates the start of a
/// compiler, and later batches have smaller kernels.
std::size_t batch_size(const KernelSize& size) {
  constexpr std::int64_t kStatements = 400;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(kStatements / (size.statements + 1), 4, 16));
}

class Reducer {
 public:
  Reducer(const Judge& judge, ReductionBudget budget, const ProgressCallback& on_progress)
      : judge_(judge), budget_(budget), report_(on_progress), start_(Clock::now()) {}

  Result<Reduction> run(const ir::Module& module) {
    if (!begin(module)) return Error{"the failure does not occur in the original kernel"};
    const KernelSize before = size_of(module);
    bool changed = true;
    while (changed && !is_spent()) {
      changed = false;
      for (const ReductionStep& step : steps())
        changed |= take(step);
    }
    return Reduction{.module = current_,
                     .original_size = before,
                     .reduced_size = size_,
                     .candidate_count = candidate_count_,
                     .elapsed_time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_),
                     .is_minimal = !is_spent()};
  }

 private:
  /// A step applied at some places of the original module, and the result.
  struct Candidate {
    Places places;
    ir::Module module;
    KernelSize size;
  };

  /// Whether the remaining time is shorter than the last batch.
  bool is_spent() const {
    return candidate_count_ >= budget_.max_candidates || Clock::now() - start_ + time_of_batch_ >= budget_.time_limit;
  }

  /// Normalizes the module, without dead code if it can be removed from the start.
  bool begin(const ir::Module& module) {
    std::vector<ir::Module> both{repaired(module, DeadStatementPolicy::kRemove),
                                 repaired(module, DeadStatementPolicy::kKeep)};
    if (!ir::verify(both.front()).empty()) both.erase(both.begin());
    const std::vector<bool> shown = judge(both);
    if (!shown.back()) return false;
    dead_ = both.size() == 2 && shown.front() ? DeadStatementPolicy::kRemove : DeadStatementPolicy::kKeep;
    accept("begin", dead_ == DeadStatementPolicy::kRemove ? std::move(both.front()) : std::move(both.back()));
    return true;
  }

  std::vector<bool> judge(const std::vector<ir::Module>& modules) {
    candidate_count_ += std::ssize(modules);
    const Clock::time_point start = Clock::now();
    std::vector<bool> shown = judge_(modules);
    time_of_batch_ = Clock::now() - start;
    return shown;
  }

  void accept(std::string_view step, ir::Module module) {
    current_ = std::move(module);
    size_ = size_of(current_);
    if (report_) report_({.step_name = step, .size = size_, .candidate_count = candidate_count_});
  }

  /// Nothing if the result is invalid, not smaller, or was judged before.
  std::optional<Candidate> candidate(const ReductionStep& step, const ir::Module& base, Places places) {
    ir::Module module = repaired(taken_at(step, base, places), dead_);
    if (!ir::verify(module).empty()) return std::nullopt;
    const KernelSize size = size_of(module);
    if (size >= size_ || !tried_.insert(ir::hash(module) + preconditions_of(module)).second) return std::nullopt;
    return Candidate{.places = std::move(places), .module = std::move(module), .size = size};
  }

  /// The parts of a module that its hash does not cover.
  static std::string preconditions_of(const ir::Module& module) {
    std::string text;
    for (const std::string& precondition : module.kernels.front().annotations)
      text += "\n" + precondition;
    return text;
  }

  /// The candidates that still fail in the same way.
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

  /// Applies the step at as many places as possible. Returns whether there was any.
  bool take(const ReductionStep& step) {
    const ir::Module base = current_;
    Places left(count_places(step, base));
    for (std::size_t place = 0; place < left.size(); ++place)
      left[place] = place;
    Places taken;
    for (std::size_t chunk = left.size(); chunk > 0 && !is_spent(); chunk /= 2) {
      if (step.tries_all_but_few_places) take_most(step, base, taken, left, chunk);
      chunk = std::min(chunk, std::max<std::size_t>(left.size(), 1));
      take_chunks(step, base, taken, left, chunk);
    }
    return !taken.empty();
  }

  /// Accepts the candidate if it fails in the same way when it is judged alone. Returns whether it was accepted.
  bool take_these(const ReductionStep& step, Candidate candidate, Places& taken, Places& left) {
    if (!judge({candidate.module}).front()) return false;
    taken = std::move(candidate.places);
    left = without(left, taken);
    accept(step.name, std::move(candidate.module));
    return true;
  }

  /// Tries all remaining places except one chunk, unless success is unlikely because there are many chunks.
  void take_most(const ReductionStep& step, const ir::Module& base, Places& taken, Places& left, std::size_t chunk) {
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

  /// Tries each chunk of the remaining places.
  void take_chunks(const ReductionStep& step, const ir::Module& base, Places& taken, Places& left, std::size_t chunk) {
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

  /// Combines candidates that each fail in the same way: the longest prefix that does so together.
  std::optional<Candidate> together(const ReductionStep& step, const ir::Module& base, std::vector<Candidate> good) {
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
  const ReductionBudget budget_;
  const ProgressCallback& report_;
  const Clock::time_point start_;
  ir::Module current_;
  KernelSize size_;
  DeadStatementPolicy dead_ = DeadStatementPolicy::kKeep;
  std::int64_t candidate_count_ = 0;
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
                    .imported_files = {},
                    .copied_lines = {}};
  return repaired(std::move(result), DeadStatementPolicy::kKeep);
}

Result<Reduction> reduce(const ir::Module& module, const Judge& judge, ReductionBudget budget,
                         const ProgressCallback& on_progress) {
  return Reducer(judge, budget, on_progress).run(module);
}

}  // namespace assay::reduce
