// Injects faults into the emitted text of long correct kernels, built and judged on the CPU: the reduced kernels must
// fail in the same way. ASSAY_FAULTY_KERNELS is the number of kernels; the default is two.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cpu/device.hpp"
#include "backends/source/print.hpp"
#include "generators/generator.hpp"
#include "harness/reduce/failing_case.hpp"
#include "harness/suite/run/batch.hpp"
#include "ir/verifier.hpp"
#include "ir/visit.hpp"
#include "support/rng.hpp"

namespace assay::reduce {
namespace {

using namespace ir;
using backends::Pass;
using harness::CaseRecord;
using harness::KernelSource;
using harness::RunOptions;

// ---- long kernels: the concatenation of random kernels

using generators::Family;
constexpr std::array kFamilies = {
    Family::kArithmetic,  Family::kMath,       Family::kConditional, Family::kMultiConditional, Family::kLoop,
    Family::kVector,      Family::kNestedLoop, Family::kScalarParam, Family::kRandomMath,       Family::kInPlace,
    Family::kControlFlow, Family::kMatrix,     Family::kArrayAccess, Family::kCombined};

bool can_be_joined(const Module& module) {
  const Function& kernel = module.kernels.front();
  bool returns = false;
  for_each_statement(kernel.body, [&](const Stmt& s) { returns |= std::holds_alternative<Return>(s.node); });
  return kernel.launch_rank == 1 && !returns && module.functions.empty() && module.structs.empty();
}

constexpr int kFewestStatements = 60;
constexpr int kMostStatements = 200;

/// Concatenates kernels into one with all parameters and statements.
class Joined {
 public:
  Joined() { kernel_.is_kernel = true; }

  void add(const Function& part) {
    const std::string prefix = fmt::format("p{}_", parts_.size());
    for (VarId p = 0; p < part.parameter_count; ++p) {
      parameters_.push_back(part.var(p));
      parameters_.back().name = prefix + part.var(p).name;
    }
    for (std::string precondition : part.annotations) {
      if (precondition.starts_with("launch:")) continue;
      for (VarId p = 0; p < part.parameter_count; ++p)
        precondition =
            std::regex_replace(precondition, std::regex("\\b" + part.var(p).name + "\\b"), prefix + part.var(p).name);
      kernel_.annotations.push_back(precondition);
    }
    parts_.push_back(part);
    for_each_statement(part.body, [this](const Stmt&) { ++statements_; });
  }
  int statements() const { return statements_; }
  bool has_room_for(const Function& part) const {
    int statements = statements_;
    for_each_statement(part.body, [&](const Stmt&) { ++statements; });
    return statements <= kMostStatements;
  }

  Module module(const std::string& name) {
    kernel_.name = name;
    kernel_.variables = parameters_;
    kernel_.parameter_count = static_cast<int>(parameters_.size());
    kernel_.launch_rank = 1;
    kernel_.variables.push_back({.name = "thread", .type = kI32});
    VarId first = 0;
    for (const Function& part : parts_) {
      append(part, first);
      first += part.parameter_count;
    }
    return {.structs = {},
            .functions = {},
            .kernels = {kernel_},
            .source_name = {},
            .source_lines = {},
            .imported_files = {},
            .copied_lines = {}};
  }

 private:
  void append(const Function& part, VarId first_parameter) {
    std::vector<VarId> variables;
    for (VarId v = 0; v < static_cast<VarId>(part.variables.size()); ++v) {
      if (part.is_parameter(v)) {
        variables.push_back(first_parameter + v);
      } else if (part.is_thread_index(v)) {
        variables.push_back(kernel_.parameter_count);
      } else {
        variables.push_back(static_cast<VarId>(kernel_.variables.size()));
        kernel_.variables.push_back(part.var(v));
      }
    }
    const auto offset = static_cast<ExprId>(kernel_.expressions.size());
    for (Expr expr : part.expressions) {
      for (ExprId& arg : expr.args)
        arg += offset;
      if (expr.variable != kNone) expr.variable = variables[static_cast<std::size_t>(expr.variable)];
      kernel_.expressions.push_back(std::move(expr));
    }
    Block body = part.body;
    for_each_statement(body, [&](Stmt& statement) {
      for_each_root_expression(statement, [&](ExprId& root) { root += offset; });
      for_each_declared_variable(statement, [&](VarId& v) { v = variables[static_cast<std::size_t>(v)]; });
      if (auto* assign = std::get_if<Assign>(&statement.node))
        assign->variable = variables[static_cast<std::size_t>(assign->variable)];
    });
    for (Stmt& statement : body.statements)
      kernel_.body.statements.push_back(std::move(statement));
  }

  Function kernel_;
  std::vector<Variable> parameters_;
  std::vector<Function> parts_;
  int statements_ = 0;
};

/// A kernel of 60 to 200 statements.
Module long_kernel(std::uint64_t seed) {
  Rng rng(seed);
  const int wanted = rng.uniform_int(kFewestStatements, kMostStatements - 20);
  Joined joined;
  while (joined.statements() < wanted) {
    const Family family = kFamilies[rng.uniform_int(std::size_t{0}, kFamilies.size() - 1)];
    const generators::GeneratedKernel part = generators::generate(family, rng.uniform_int<std::uint64_t>(1, 500));
    if (can_be_joined(part.module) && joined.has_room_for(part.module.kernels.front()))
      joined.add(part.module.kernels.front());
  }
  return joined.module(fmt::format("long_{}", seed));
}

// ---- injected faults

/// A fault of the emitter: a replacement in the emitted text wherever the pattern matches.
struct InjectedFault {
  const char* name;
  Pass pass;
  const char* pattern;
  const char* replacement;
};

constexpr InjectedFault kFaultInjectionEnabled[] = {
    {"sine_for_cosine", Pass::kBackward, R"(\* cos\()", "* sin("},
    {"sine_without_its_sign", Pass::kBackward, R"(-(adj_\w+) \* sin\()", "$1 * sin("},
    {"quotient_without_its_sign", Pass::kBackward, R"(-\((adj_\w+) \* div(\w*)\))", "($1 * div$2)"},
    {"difference_without_its_sign", Pass::kBackward, R"( = -(adj_sub\w*);)", " = $1;"},
    {"tanh_by_itself", Pass::kBackward, R"(\(1\.0f - (tanh\w*) \* tanh\w*\))", "(1.0f - $1)"},
    {"arctangent_of_the_double", Pass::kBackward, R"((adj_atan\w*) / \(1\.0f \+ )", "$1 / (2.0f + "},
    {"minimum_of_the_other", Pass::kBackward, R"((adj_min\w*) : real\(0\.0f\))", "real(0.0f) : $1"},
    {"first_of_the_saved_values", Pass::kBackward, R"(= (checkpoint_\w+)\[(\w+)\];)", "= $1[0];"},
    {"one_trip_fewer", Pass::kBackward, R"((\w+) > -1; --)", "$1 > 0; --"},
    {"plain_store_of_a_sum", Pass::kBackward, R"(atomic_add\((grad_\w+\.at\(\w+\)), (adj_\w*_1)\))", "($1 = $2)"},
    {"gradient_of_the_neighbour", Pass::kBackward, R"((grad_p3_\w+)\.at\(thread\), )",
     "$1.at(thread > 0 ? thread - 1 : 0), "},
    {"accumulation_lost", Pass::kBackward, R"((adj_\w+) = \1 \+ (adj_\w+);)", "$1 = $2;"},
    {"power_of_the_same", Pass::kBackward, R"(pow\((\w+), (\w+) - 1\.0f\))", "pow($1, $2)"},
    {"maximum_of_the_other", Pass::kBackward, R"((\w+) > (\w+) \|\| isnan\()", "$1 < $2 || isnan("},
    {"product_of_the_same", Pass::kBackward, R"( = (adj_mul_3) \* (\w+);)", " = $1 * $1;"},
    {"backward_beyond_its_array", Pass::kBackward, R"((grad_p2_\w+)\.at\(thread\), )", "$1.at(thread + $1.shape[0]), "},
    {"backward_hangs", Pass::kBackward, R"(> -1; --(\w+)\))", "> -1; $1 = $1 < 1 ? 1 : $1)"},
    {"maximum_for_minimum", Pass::kForward, R"(\bminimum\(|\bmin\()", "maximum("},
    {"less_for_greater", Pass::kForward, R"((p1_\w+\.at\(thread\)) > )", "$1 < "},
    {"sum_started_again", Pass::kForward, R"((\w+) = \1 \+ )", "$1 = "},
    {"atan_of_the_double", Pass::kForward, R"(\batan\()", "atan(2 * "},
    {"last_trip_missing", Pass::kForward, R"(for \(int (\w+) = (\w+); \1 < (\w+); )",
     "for (int $1 = $2; $1 < $3 - 1; "},
    {"constant_of_its_own", Pass::kForward, R"(0\.7(\d)f)", "0.8$1f"},
    {"square_root_of_the_square", Pass::kForward, R"(\bsqrt\(([^()]*)\))", "sqrt(($1) * ($1))"},
    {"tanh_by_its_series", Pass::kForward, R"(\btanh\(([^()]*)\))", "($1)"},
    {"crashes_at_a_cube_root", Pass::kForward, R"(\bcbrt\()", "cbrt(*(volatile float*)8 + "},
    {"writes_beyond", Pass::kForward, R"((p4_\w+)\.at\(thread\) = )", "$1.at(thread + 1) = "},
    {"misspelt_function", Pass::kForward, R"(\bpow\()", "pwo("},
    {"quotient_upside_down", Pass::kForward, R"((\w+) / (\([^()]*\)))", "$2 / $1"},
    {"other_arm", Pass::kForward, R"(if \((\w+\.at\(thread\) < [^()]*)\) \{)", "if (!($1)) {"},
};
constexpr int kFaultCount = static_cast<int>(std::size(kFaultInjectionEnabled));

/// A printer for the CPU that injects the fault.
harness::Printer injection(const InjectedFault& injected_fault) {
  return [&injected_fault, pattern = std::regex(injected_fault.pattern)](
             const Module& module, const Function& forward, const Function* backward, backends::SourceTarget target) {
    Result<backends::EmittedKernel> emitted = source::print(module, forward, backward, target);
    if (!emitted.ok() || target != backends::SourceTarget::kCpp) return emitted;
    std::string& body = emitted.value().body;
    const std::size_t split = body.find("_backward(");
    const std::size_t middle = split == std::string::npos ? body.size() : split;
    std::string first = body.substr(0, middle);
    std::string second = body.substr(middle);
    std::string& half = injected_fault.pass == Pass::kForward ? first : second;
    half = std::regex_replace(half, pattern, injected_fault.replacement);
    body = first + second;
    return emitted;
  };
}

harness::Printer original_printer() {
  return [](const Module& module, const Function& forward, const Function* backward, backends::SourceTarget target) {
    return source::print(module, forward, backward, target);
  };
}

RunOptions options() {
  RunOptions options;
  options.policy = harness::JudgingPolicy::quick();
  options.time_limit = std::chrono::milliseconds(1000);
  return options;
}

bool is_failure(harness::Outcome outcome) {
  using harness::Outcome;
  return outcome == Outcome::fail || outcome == Outcome::crashed || outcome == Outcome::memory_fault ||
         outcome == Outcome::timed_out || outcome == Outcome::build_failed;
}

/// Whether the fault changes the emitted text of the kernel.
bool is_injected_in(const KernelSource& source, const InjectedFault& injected_fault, backends::Device& device) {
  const auto body = [&](const harness::Printer& printer) {
    const harness::PreparedKernel prepared = harness::prepare_kernel(source, printer, device.target(), options());
    return prepared.emitted_kernel ? prepared.emitted_kernel->body : std::string();
  };
  return body(injection(injected_fault)) != body(original_printer());
}

/// Finds a correct long kernel that fails with the fault.
std::optional<FailingCase> find_case(const InjectedFault& injected_fault, std::uint64_t first_seed,
                                     backends::Device& device) {
  for (std::uint64_t seed = first_seed; seed < first_seed + 100; ++seed) {
    const Result<KernelSource> source = reparse_as_python(alone(long_kernel(seed), 0), "long.py");
    if (!source.ok() || !is_injected_in(*source, injected_fault, device)) continue;
    const CaseRecord wrong = judge_case(*source, injected_fault.pass, device, injection(injected_fault), options());
    if (!is_failure(wrong.outcome)) continue;
    const CaseRecord right = judge_case(*source, injected_fault.pass, device, original_printer(), options());
    if (!harness::is_pass(right.outcome)) continue;
    return FailingCase{.source = *source, .pass = injected_fault.pass, .failure_class = ending_of(wrong)};
  }
  return std::nullopt;
}

struct Outcome {
  std::int64_t statements = 0;
  double seconds = 0;
};

Outcome reduce_faulty(const InjectedFault& injected_fault, std::uint64_t seed, backends::Device& device) {
  SCOPED_TRACE(injected_fault.name);
  const std::optional<FailingCase> failing = find_case(injected_fault, seed, device);
  if (!failing) {
    ADD_FAILURE() << "no kernel fails with the fault";
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<ReducedCase> reduced =
      reduce_case(*failing, device, injection(injected_fault), options(), {.time_limit = std::chrono::seconds(58)});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!reduced.ok()) {
    ADD_FAILURE() << reduced.error().text();
    return {};
  }
  const Reduction& reduction = reduced->reduction;
  fmt::print("{:30} {:45} {:3} -> {} statements, {:4} trials, {:4.1f} s\n", injected_fault.name,
             to_text(failing->failure_class), reduction.original_size.statements, reduction.reduced_size.statements,
             reduction.candidate_count, elapsed.count());
  std::fflush(stdout);
  EXPECT_TRUE(has_ending(reduced->record, failing->failure_class)) << reduced->record.message;
  EXPECT_GE(reduction.original_size.statements, kFewestStatements);
  EXPECT_LE(reduction.original_size.statements, kMostStatements);
  EXPECT_LE(elapsed.count(), 60);
  const CaseRecord right =
      judge_case(reduced->source, injected_fault.pass, device, original_printer(), reduced->options);
  EXPECT_FALSE(is_failure(right.outcome)) << "the reduced kernel fails without the fault: " << right.message;
  return {.statements = reduction.reduced_size.statements, .seconds = elapsed.count()};
}

TEST(InjectedFaults, AreReducedToFewStatements) {
  const char* const wanted = std::getenv("ASSAY_FAULTY_KERNELS");
  const int count = wanted == nullptr ? 2 : std::atoi(wanted);
  cpu::CpuDevice device(cpu::CpuOptions{.worker_executable = ASSAY_WORKER, .uses_build_cache = false});
  std::vector<std::int64_t> statements;
  for (int bug = 0; bug < count; ++bug) {
    const int number = wanted == nullptr ? bug * 17 : bug;  // two: one of each pass
    const auto seed = static_cast<std::uint64_t>(1000 * (bug + 1));
    statements.push_back(reduce_faulty(kFaultInjectionEnabled[number % kFaultCount], seed, device).statements);
  }
  std::ranges::sort(statements);
  EXPECT_LE(statements[statements.size() / 2], 8);
  fmt::print("median of {}: {} statements\n", statements.size(), statements[statements.size() / 2]);
}

}  // namespace
}  // namespace assay::reduce
