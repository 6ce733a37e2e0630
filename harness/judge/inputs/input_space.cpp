#include "harness/judge/inputs/input_space.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/inputs/repeated_array.hpp"
#include "ir/compared_constants.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::Finding;

constexpr int kTries = 24;
/// Number of draws with other values that must repeat a finding before it counts as a defect of the kernel.
constexpr int kConfirmingDraws = 2;
/// Extents of the launch and of the arrays of a further such draw.
constexpr std::int32_t kConfirmingThreads = 5, kConfirmingExtent = 23;
/// How many attempts may exhaust their instructions, and how many of a draw whose failure does not matter: each takes
/// as long as judging a kernel.
constexpr int kMostEndless = 3, kMostEndlessOfTrial = 1;
/// Total instructions of the failed attempts of one draw: some seconds.
constexpr std::int64_t kMostWasted = 20'000'000;
constexpr int kSample = 96;
/// Number of last threads in each sample: these reach farthest.
constexpr std::int64_t kLastSampled = 24;
constexpr double kMaxAnnotatedThreads = 1e6;  ///< unless more are requested
bool has_path(const ir::Function& kernel, std::string_view path) {
  return std::ranges::find(kernel.variables, path, &ir::Variable::path) != kernel.variables.end();
}

/// Calls visit(parameter, dimension) for each extent of an array in the term.
template <class Visit>
void for_each_extent(const PreconditionTerm& term, const Visit& visit) {
  if (term.kind == PreconditionTerm::Kind::kExtent)
    visit(static_cast<std::size_t>(term.parameter), static_cast<std::size_t>(term.dimension));
  if (term.left == nullptr) return;
  for_each_extent(*term.left, visit);
  for_each_extent(*term.right, visit);
}

/// The number of elements of an array, or `most` if that is less. The product of large extents exceeds 64 bits.
std::int64_t elements_up_to(const std::vector<std::int32_t>& shape, std::int64_t most) {
  std::int64_t elements = 1;
  for (const std::int32_t extent : shape)
    elements = extent > 0 && elements > most / extent ? most : elements * extent;
  return std::min(elements, most);
}

/// Whether both findings concern the same element. If `may_move`, an index out of bounds may also be as far behind
/// the end of an array that has grown in between, as in x[x.shape[0]].
bool concern_same_element(const Finding& a, const Finding& b, bool may_move) {
  if (a.index == b.index) return true;
  if (!may_move) return false;
  if (a.kind != Finding::Kind::kOutOfBounds || a.shape.size() != a.index.size() || b.shape.size() != b.index.size() ||
      a.index.size() != b.index.size())
    return false;
  for (std::size_t d = 0; d < a.index.size(); ++d) {
    if (a.index[d] != b.index[d] && a.index[d] - a.shape[d] != b.index[d] - b.shape[d]) return false;
  }
  return true;
}

}  // namespace

bool has_while_loop(const ir::Module& module, const ir::Function& kernel) {
  bool found = false;
  const auto search = [&](const ir::Function& function) {
    ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
      found = found || std::holds_alternative<ir::While>(statement.node);
    });
  };
  search(kernel);
  std::ranges::for_each(module.functions, search);
  return found;
}

std::vector<std::int64_t> sampled_threads(std::int64_t threads, std::uint64_t seed) {
  if (threads <= kThreadSamplingThreshold) return {};
  std::vector<std::int64_t> sample{0, std::min<std::int64_t>(65'535, threads - 1),
                                   std::min<std::int64_t>(65'536, threads - 1)};
  for (std::int64_t last = 1; last <= kLastSampled; ++last)
    sample.push_back(threads - last);
  Rng rng(seed);
  for (int i = 0; i < kSample; ++i)
    sample.push_back(rng.uniform_int<std::int64_t>(0, threads - 1));
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

Result<InputSpace> InputSpace::make(const Module& module, const Function& kernel, const reference::Oracle& oracle,
                                    ArrayExtents array_extents) {
  Result<Preconditions> preconditions = parse_preconditions(module, kernel);
  if (!preconditions.ok()) return preconditions.error();
  return InputSpace(module, kernel, oracle, array_extents, preconditions.take());
}

InputSpace::InputSpace(const Module& module, const Function& kernel, const reference::Oracle& oracle,
                       ArrayExtents array_extents, Preconditions preconditions)
    : module_(&module),
      kernel_(&kernel),
      oracle_(&oracle),
      array_extents_(array_extents),
      preconditions_(std::move(preconditions)),
      parameter_uses_(parameter_use(module, kernel)),
      index_sources_(index_sources(module, kernel)),
      compared_constants_(compared_constants(module, kernel)),
      uses_extents_(ir::uses_extents(module, kernel)),
      tests_finiteness_(ir::tests_finiteness(module, kernel)),
      visits_faces_(has_path(kernel, ir::kMeshOrderPath)),
      has_groups_of_faces_(has_path(kernel, ir::kMeshGroupsPath)),
      uses_tiles_(uses_tiles(kernel)),
      has_while_loop_(has_while_loop(module, kernel)) {
  if (array_extents == ArrayExtents::kExact) data_dependences_ = ir::data_dependences(module, kernel);
  const auto count = static_cast<std::size_t>(kernel.parameter_count);
  for (std::size_t p = 0; p < count; ++p) {
    const Type type = kernel.variables[p].type;
    is_never_read_.push_back(type.is_array() && !parameter_uses_[p].read && !parameter_uses_[p].is_atomically_updated);
    min_array_shape_.emplace_back(type.rank, 0);
    min_shape_covering_tiles_.emplace_back();
  }
  min_integer_.assign(count, 0);
  draws_permutation_.assign(count, false);
  spacing_step_.assign(count, 0);
  max_launch_extent_.assign(static_cast<std::size_t>(kernel.launch_rank), kUnlimited);
}

Result<void> InputSpace::fix_extents(const std::vector<std::int32_t>& launch,
                                     const std::map<std::string, std::vector<std::int32_t>>& shapes) {
  if (!launch.empty() && launch.size() != static_cast<std::size_t>(kernel_->launch_rank))
    return Error{fmt::format("'threads' in the contract must have {} extents, as the launch of the specification has",
                             kernel_->launch_rank)};
  for (const auto& [name, shape] : shapes) {
    const auto end = kernel_->variables.begin() + kernel_->parameter_count;
    const auto parameter = std::find_if(kernel_->variables.begin(), end,
                                        [&](const ir::Variable& variable) { return variable.name == name; });
    if (parameter == end || !parameter->type.is_array())
      return Error{fmt::format("'shapes' in the contract must name arrays of the specification, got '{}'", name)};
    if (shape.size() != parameter->type.rank)
      return Error{fmt::format("'shapes' in the contract must state {} extents for '{}'", parameter->type.rank, name)};
  }
  fixed_launch_extents_ = launch;
  fixed_shapes_ = shapes;
  return {};
}

std::optional<Launch> InputSpace::large_fixed_launch(std::uint64_t seed) const {
  std::int64_t threads = 1;
  for (const std::int32_t extent : fixed_launch_extents_)
    threads *= extent;
  if (fixed_launch_extents_.empty() || threads <= kThreadSamplingThreshold) return std::nullopt;
  constexpr std::int64_t kMostElements = 1 << 26;
  return guess({.seed = seed, .max_elements = kMostElements}, 0);
}

std::optional<Launch> InputSpace::guess(const DrawRequest& request, std::uint64_t attempt) const {
  Launch launch;
  choose_extents(launch, request);
  std::int64_t elements = 0;
  for (VarId p = 0; p < kernel_->parameter_count; ++p) {
    const Type type = kernel_->var(p).type;
    std::vector<std::int32_t> shape;
    const bool has_few_rows = request.has_few_rows && type.rank > launch.extents.size();
    for (std::size_t d = 0; d < type.rank; ++d) {
      const std::size_t from = std::min(d, launch.extents.size() - 1);
      const bool beyond = d >= launch.extents.size();
      const std::int32_t few = request.array_extent > 0 ? request.array_extent : 6;
      const std::int32_t chosen = chosen_extent(request, p, d);
      const std::int32_t spatial = spatial_extent(kernel_->var(p).path, d, request);
      const std::int32_t guessed =
          spatial > 0                           ? spatial
          : chosen > 0                          ? chosen
          : request.has_independent_extents     ? independent_extent(request, static_cast<std::size_t>(p) + 1, d)
          : beyond && request.has_round_extents ? round_extent(request, d)
          : beyond                              ? few + (few == 1 ? 0 : static_cast<std::int32_t>(d))
                   : std::max({launch.extents[from], has_few_rows ? 0 : request.array_extent, annotated_extent(from)});
      const std::int32_t least = min_array_shape_[static_cast<std::size_t>(p)][d];
      const std::vector<std::int32_t>& covering = min_shape_covering_tiles_[static_cast<std::size_t>(p)];
      const bool of_tiles = !covering.empty() && covering[d] > 0;
      const bool is_other = request.extents_of_arrays != DrawRequest::ExtentsOfArrays::kAsLaunch && spatial == 0;
      const std::int32_t held = of_tiles   ? tile_extent(static_cast<std::size_t>(p), d, request)
                                : is_other ? other_extent(guessed, request, static_cast<std::size_t>(p), d, type.rank)
                                           : guessed;
      shape.push_back(std::max(held, least));
    }
    if (const auto fixed = fixed_shapes_.find(kernel_->var(p).name); fixed != fixed_shapes_.end())
      shape = fixed->second;
    if (type.is_array()) elements += elements_up_to(shape, request.max_elements + 1);
    if (elements > request.max_elements) return std::nullopt;
    launch.arguments.push_back(make_argument(*module_, type, std::move(shape)));
  }
  // An annotation with an integer parameter or an array's length sets that value; other terms set the launch.
  for (std::size_t d = 0; d < preconditions_.launch_extents.size(); ++d) {
    const PreconditionTerm& term = preconditions_.launch_extents[d];
    if (term.kind == PreconditionTerm::Kind::kExtent) {
      const std::int32_t chosen = chosen_extent(request, term.parameter, static_cast<std::size_t>(term.dimension));
      if (chosen > 0) launch.extents[d] = std::min(chosen, max_launch_extent_[d]);
      Argument& argument = launch.arguments[static_cast<std::size_t>(term.parameter)];
      auto shape = argument.shape;
      shape[static_cast<std::size_t>(term.dimension)] = launch.extents[d];
      argument = make_argument(*module_, argument.type, std::move(shape));
    }
  }
  bind_values(launch, request, attempt);
  apply_launch_annotation(launch, request);
  return launch;
}

/// Sets the extents of the launch that an annotation states.
void InputSpace::apply_launch_annotation(Launch& launch, const DrawRequest& request) const {
  const double most_threads = std::max<double>(kMaxAnnotatedThreads, request.size);
  for (std::size_t d = 0; d < preconditions_.launch_extents.size(); ++d) {
    if (preconditions_.launch_extents[d].kind == PreconditionTerm::Kind::kOpen) continue;
    launch.extents[d] =
        static_cast<std::int32_t>(std::clamp(preconditions_.launch_extents[d].evaluate(launch), 0.0, most_threads));
  }
}

bool InputSpace::is_degenerate(const reference::ReferenceResult& reference) const {
  std::int64_t floats = 0;
  std::int64_t undefined = 0;
  for (const auto& output : reference.outputs) {
    if (!output) continue;
    for (std::size_t i = 0; i < output->elements.size(); ++i) {
      const std::size_t cell = output->element_indices.empty() ? i : output->element_indices[i];
      if (!is_float(output->components[cell % output->components.size()]) || !output->elements[i].is_written) continue;
      ++floats;
      const auto& element = output->elements[i];
      undefined += !std::isfinite(element.value) || std::isinf(element.bound[reference::kNative]);
    }
  }
  return undefined * 10 > floats;
}

reference::OracleRun InputSpace::run_of(const DrawRequest& request, const Launch& launch) const {
  reference::OracleRun run{.launch = launch,
                           .uninitialized = is_never_read_,
                           .thread_order = {},
                           .instruction_budget = request.instruction_budget};
  // Only the sets for large launches are judged by a sample of their threads. Other launches may have many threads,
  // too, because of an annotation; all of these run.
  if (request.size > kThreadSamplingThreshold) run.thread_order = sampled_threads(launch.threads(), request.seed);
  run.reports_only_accessed_elements = !run.thread_order.empty();
  run.fixes_thread_order = order_dependence_.has_value();
  return run;
}

InputSpace InputSpace::trial() const {
  InputSpace copy = *this;
  copy.is_trial_ = true;
  return copy;
}

bool InputSpace::is_persistent(const Finding& finding, DrawRequest request) const {
  if (is_trial_) return true;
  // A while loop may leave an array because no value in it ends the loop.
  const bool may_move = !has_while_loop_;
  for (int draw = 0; draw < kConfirmingDraws; ++draw) {
    request.seed = mixed(request.seed, static_cast<std::uint64_t>(draw), 1);
    const std::optional<Launch> launch = guess(request, kTries);
    if (!launch) return false;
    const reference::ReferenceResult reference = oracle_->evaluate(run_of(request, *launch));
    const bool again = std::ranges::any_of(reference.findings, [&](const Finding& other) {
      return other.kind == finding.kind && other.loc.line == finding.loc.line && other.parameter == finding.parameter &&
             concern_same_element(other, finding, may_move) && other.thread == finding.thread &&
             other.earlier_thread == finding.earlier_thread;
    });
    if (!again) return false;
  }
  // The kernel may be well defined where the extents of arrays decide which threads access what.
  request.size = kConfirmingThreads;
  request.array_extent = kConfirmingExtent;
  return std::holds_alternative<InputDrawFailure>(trial().search(request, [](reference::OracleRun&) {}));
}

/// Whether a larger array than those that are drawn would have the element: Warp's extents have 31 bits.
bool InputSpace::needs_larger_array(const Finding& finding) {
  return finding.kind == Finding::Kind::kOutOfBounds && finding.parameter != kNone &&
         std::ranges::any_of(finding.index, [](std::int64_t index) {
           const std::int64_t least_extent = index < 0 ? -index : index + 1;
           return least_extent > kLargestExtent && least_extent <= std::numeric_limits<std::int32_t>::max();
         });
}

InputDrawFailure::Reason InputSpace::reason_of(const Finding& finding, const DrawRequest& request) const {
  using Reason = InputDrawFailure::Reason;
  Reason reason = Reason::kNoDomain;
  if (needs_larger_array(finding)) return reason;
  switch (finding.kind) {
    case Finding::Kind::kRace: reason = Reason::kRace; break;
    case Finding::Kind::kOrderDependentAtomic: return Reason::kDifferentThreadOrder;
    case Finding::Kind::kOutOfBounds:
      reason = reference::is_read_before_assignment(finding, *module_, *kernel_) ? Reason::kUninitialized
                                                                                 : Reason::kOutOfBounds;
      break;
    case Finding::Kind::kUninitializedRead: reason = Reason::kUninitialized; break;
    default: return Reason::kNoDomain;
  }
  if (is_persistent(finding, request)) return reason;
  return finding.kind == Finding::Kind::kRace ? Reason::kDifferentThreadOrder : Reason::kNoDomain;
}

Launch InputSpace::cropped(const Launch& launch, const std::vector<std::vector<std::int32_t>>& extents) const {
  Launch result{.extents = launch.extents, .arguments = {}};
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    const Argument& whole = launch.arguments[p];
    if (extents[p] == whole.shape) {
      result.arguments.push_back(whole);
      continue;
    }
    result.arguments.push_back(repeated(*module_, whole, extents[p]));
  }
  return result;
}

bool InputSpace::is_launch_of_extents() const {
  return std::ranges::any_of(preconditions_.launch_extents, [](const PreconditionTerm& term) {
    bool found = false;
    for_each_extent(term, [&](std::size_t, std::size_t) { found = true; });
    return found;
  });
}

std::optional<DrawnLaunch> InputSpace::with_exact_extents(const DrawRequest& request, const Launch& launch,
                                                          const CompleteRun& complete, bool keeps_launch) const {
  // A loop over an extent accesses less once that extent is smaller.
  constexpr int kMostSteps = 4;
  DrawnLaunch drawn{.launch = launch, .reference = {}};
  for (int step = 0; step < kMostSteps; ++step) {
    // Threads outside the sample of a large launch access elements, too.
    reference::OracleRun all = run_of(request, drawn.launch);
    all.thread_order.clear();
    all.reports_only_accessed_elements = true;
    all.records_extents = true;
    const reference::ReferenceResult accessed = oracle_->evaluate(all);
    if (!accessed.is_complete || !accessed.findings.empty()) return std::nullopt;
    auto exact = exact_extents(request, drawn.launch, accessed.accessed_extents);
    if (!exact) return std::nullopt;
    std::vector<std::vector<std::int32_t>>& extents = *exact;
    for (std::size_t d = 0; keeps_launch && d < preconditions_.launch_extents.size(); ++d) {
      for_each_extent(preconditions_.launch_extents[d], [&](std::size_t parameter, std::size_t dimension) {
        extents[parameter][dimension] = drawn.launch.arguments[parameter].shape[dimension];
      });
    }
    Launch smaller = cropped(drawn.launch, extents);
    // The annotation may depend on the extents of the arrays. The extents of outputs then follow from the new launch.
    apply_launch_annotation(smaller, request);
    for (std::size_t p = 0; smaller.extents != drawn.launch.extents && p < smaller.arguments.size(); ++p)
      if (parameter_uses_[p].changed()) smaller.arguments[p] = drawn.launch.arguments[p];
    const bool is_exact =
        smaller.extents == drawn.launch.extents &&
        std::ranges::equal(smaller.arguments, drawn.launch.arguments, {}, &Argument::shape, &Argument::shape);
    if (!is_exact) {
      drawn.launch = std::move(smaller);
      continue;
    }
    reference::OracleRun run = run_of(request, drawn.launch);
    complete(run);
    drawn.reference = oracle_->evaluate(run);
    if (!drawn.reference.is_complete || !drawn.reference.findings.empty()) return std::nullopt;
    drawn.has_exact_extents = true;
    return drawn;
  }
  return std::nullopt;
}

std::variant<DrawnLaunch, InputDrawFailure> InputSpace::draw(const DrawRequest& request, const CompleteRun& complete) {
  auto found = search(request, complete);
  const auto* const drawn = std::get_if<DrawnLaunch>(&found);
  if (drawn == nullptr || array_extents_ != ArrayExtents::kExact || has_fixed_extents()) return found;
  if (auto exact = with_exact_extents(request, drawn->launch, complete, false)) return *std::move(exact);
  // If the annotation is (len(x)) and the threads do not read the last element of `x`, a shorter `x` means fewer
  // threads, which read even less of it: no length is exact.
  if (!is_launch_of_extents()) return found;
  if (auto exact = with_exact_extents(request, drawn->launch, complete, true)) return *std::move(exact);
  return found;
}

std::variant<DrawnLaunch, InputDrawFailure> InputSpace::search(const DrawRequest& request,
                                                               const CompleteRun& complete) {
  std::optional<Finding> last;
  std::vector<std::int32_t> last_extents;
  const int most_endless = is_trial_ ? kMostEndlessOfTrial : kMostEndless;
  int endless = 0;
  std::int64_t wasted = 0;
  for (std::uint64_t attempt = 0; attempt < kTries && endless < most_endless && wasted < kMostWasted; ++attempt) {
    std::optional<Launch> launch = guess(request, attempt);
    if (!launch) {
      if (learn_smaller_indices()) continue;
      return InputDrawFailure{
          .message = fmt::format("the kernel's indices require arrays of more than {} elements", request.max_elements),
          .finding = {}};
    }
    DrawnLaunch drawn{.launch = *std::move(launch), .reference = {}};
    reference::OracleRun run = run_of(request, drawn.launch);
    complete(run);
    const bool wants_gradient = run.computes_gradient;
    run.computes_gradient = wants_gradient && attempt >= last_successful_attempt_;
    drawn.reference = oracle_->evaluate(run);
    const bool may_enlarge = drawn.reference.findings.empty() || has_whole_tiles_;
    if (may_enlarge && learn_tiles(drawn.reference) && attempt + 1 < kTries) continue;
    if (drawn.reference.findings.empty()) {
      if (draws_positive_floats_ || !is_degenerate(drawn.reference)) {
        last_successful_attempt_ = attempt;
        check_access_behind_end(request, drawn.launch);
        if (run.computes_gradient != wants_gradient) {
          run.computes_gradient = true;
          drawn.reference = oracle_->evaluate(run);
        }
        return drawn;
      }
      draws_positive_floats_ = true;
      last_successful_attempt_ = kNoAttempt;
      continue;
    }
    if (run.computes_gradient) last_successful_attempt_ = kNoAttempt;
    last = drawn.reference.findings.front();
    last_extents = drawn.launch.extents;
    if (!drawn.reference.is_complete && request.size > kThreadSamplingThreshold) break;
    const Links links = links_;
    keep_access_behind_end(drawn.reference.findings, drawn.launch);
    learn(drawn.reference.findings, drawn.launch);
    if (links_ != links) continue;
    wasted += drawn.reference.instructions;
    endless += drawn.reference.is_complete ? 0 : 1;
  }
  if (!last) {
    return InputDrawFailure{.message = "found no inputs for which the kernel is well defined", .finding = {}};
  }
  std::string message = reference::describe(*last, *module_, *kernel_);
  if (needs_larger_array(*last))
    message += fmt::format("; Assay draws arrays of at most {} elements in each dimension", kLargestExtent);
  if (last->kind == Finding::Kind::kRace) message += launch_hint(*last, last_extents);
  return InputDrawFailure{.reason = reason_of(*last, request), .message = std::move(message), .finding = last};
}

std::variant<Launch, InputDrawFailure> InputSpace::draw(const DrawRequest& request) {
  auto drawn = draw(request, [](reference::OracleRun&) {});
  if (auto* none = std::get_if<InputDrawFailure>(&drawn)) return std::move(*none);
  return std::move(std::get<DrawnLaunch>(drawn).launch);
}

}  // namespace assay::harness
