// The generated kernels cover every operation of the table that Warp can express, every atomic and every function of
// Warp's library, and differentiate each that has a derivative. So do the curated cases.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/cases.hpp"
#include "generators/generator.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "ir/library.hpp"
#include "ir/operations/operations.hpp"
#include "ir/transforms/adjoint.hpp"
#include "ir/visit.hpp"

namespace assay::harness {
namespace {

using generators::Family;
using ir::Op;
using ::testing::IsEmpty;

constexpr std::uint64_t kSeeds = 300;

/// The operations that kernels compute, by mnemonic; library functions with their operands: "wp.determinant(i)".
struct Contents {
  std::set<std::string, std::less<>> computed;
  std::set<std::string, std::less<>> differentiated;

  void add(const ir::Module& module, const ir::Function& kernel);
  void add(const Contents& other) {
    computed.insert(other.computed.begin(), other.computed.end());
    differentiated.insert(other.differentiated.begin(), other.differentiated.end());
  }

 private:
  void add_body(const ir::Function& function);
};

void Contents::add_body(const ir::Function& function) {
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node)) computed.emplace(row(atomic->op).mnemonic);
    ir::for_each_root_expression(statement, [&](ir::ExprId root) {
      ir::for_each_expression(function, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (expr.kind == ir::ExprKind::kOperation) computed.emplace(row(expr.op).mnemonic);
      });
    });
  });
}

std::string operand_letters(const ir::LibraryFunctionInfo& row) {
  return fmt::format("wp.{}({})", row.name, row.operand_kind_letters);
}

/// Whether operand types match a library row.
bool fits(const ir::LibraryFunctionInfo& row, const ir::Function& function) {
  if (row.operand_kind_letters.size() != static_cast<std::size_t>(function.parameter_count)) return false;
  for (ir::VarId k = 0; k < function.parameter_count; ++k) {
    if (!ir::is_operand_kind(row.operand_kind_letters[static_cast<std::size_t>(k)], function.var(k).type)) return false;
  }
  return true;
}

void Contents::add(const ir::Module& module, const ir::Function& kernel) {
  add_body(kernel);
  std::set<std::string> called;
  for (const ir::Function& function : module.functions) {
    const auto name = ir::library_name(function);
    if (!name) add_body(function);
    for (const ir::LibraryFunctionInfo& row : ir::library()) {
      if (name && row.name == *name && fits(row, function)) called.insert(operand_letters(row));
    }
  }
  computed.insert(called.begin(), called.end());
  const auto adjoint = transforms::make_adjoint(module, kernel);
  if (!adjoint.ok() || adjoint->gradient_parameters.empty()) return;
  for (const Op op : adjoint->differentiated_operations)
    differentiated.emplace(row(op).mnemonic);
  differentiated.insert(called.begin(), called.end());
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    const auto* atomic = std::get_if<ir::Atomic>(&statement.node);
    if (atomic != nullptr && kernel.expr(atomic->value).type.has_float_components())
      differentiated.emplace(row(atomic->op).mnemonic);
  });
}

/// Contents of the generated kernels of each family.
const std::map<Family, Contents>& generated() {
  static const std::map<Family, Contents> all = [] {
    std::map<Family, Contents> contents;
    for (const generators::KernelFamilyDefinition& family : generators::families()) {
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const generators::GeneratedKernel made = generators::generate(family.family, seed);
        contents[family.family].add(made.module, made.module.kernels[0]);
      }
    }
    return contents;
  }();
  return all;
}

/// Whether a Python kernel can contain it: Warp has a spelling, or component assignment produces it.
bool can_be_said(const ir::OperationEntry& operation) {
  return !operation.warp_pattern.empty() || operation.op == Op::kInsert || operation.op == Op::kWithField;
}

/// Whether a generated Python kernel can have its derivative. In Python, the operands of tile_arange are constants. The
/// adjoint pass splits structs into their fields, except for arguments of functions with custom gradients.
bool can_be_differentiated(const ir::OperationEntry& operation) {
  return operation.adjoint_kind == ir::AdjointKind::kHasRule && operation.op != Op::kTileArange &&
         operation.op != Op::kWithField;
}

/// The operations, atomics and functions that the contents lack.
std::vector<std::string> lacking(const Contents& contents) {
  std::vector<std::string> lacking;
  const auto want = [&](std::string_view name, bool derivative) {
    if (!contents.computed.contains(name)) lacking.push_back(fmt::format("{} is not computed", name));
    if (derivative && !contents.differentiated.contains(name))
      lacking.push_back(fmt::format("{} is not differentiated", name));
  };
  for (const ir::OperationEntry& operation : ir::kOperations) {
    if (can_be_said(operation)) want(operation.mnemonic, can_be_differentiated(operation));
  }
  for (const ir::LibraryFunctionInfo& row : ir::library())
    want(operand_letters(row), !row.is_discrete);
  for (const ir::AtomicOperationEntry& atomic : ir::kAtomics)
    want(atomic.mnemonic, atomic.is_differentiable);
  return lacking;
}

/// Forms for vectors and matrices of functions and operators that kernels of scalars use.
bool is_never_generated(std::string_view line) {
  static const std::set<std::string, std::less<>> kNames = {
      "wp.mod(vv)",     "wp.isnan(f)",    "wp.isnan(m)",    "wp.isnan(q)",    "wp.isinf(f)",    "wp.isinf(m)",
      "wp.isinf(q)",    "wp.isfinite(f)", "wp.isfinite(m)", "wp.isfinite(q)", "wp.bit_and(ww)", "wp.bit_or(ww)",
      "wp.bit_xor(ww)", "wp.lshift(ww)",  "wp.rshift(ww)",  "wp.invert(w)",   "wp.bit_and(kk)", "wp.bit_or(kk)",
      "wp.bit_xor(kk)", "wp.lshift(kk)",  "wp.rshift(kk)",  "wp.invert(k)",
  };
  return kNames.contains(line.substr(0, line.find(' ')));
}

TEST(OperationCoverage, GeneratorsCoverAllOperations) {
  Contents all;
  for (const auto& [family, contents] : generated())
    all.add(contents);
  std::vector<std::string> missing = lacking(all);
  std::erase_if(missing, is_never_generated);
  EXPECT_THAT(missing, IsEmpty());
}

TEST(OperationCoverage, CuratedCasesCoverAllOperations) {
  Contents all;
  for (const conformance::CaseFile& file : conformance::cases()) {
    const auto source = curated_kernel(file);
    ASSERT_TRUE(source.ok()) << source.error().text();
    if (source->module != nullptr && !source->parse_error)
      all.add(*source->module, source->module->kernels[source->kernel_index]);
  }
  EXPECT_THAT(lacking(all), IsEmpty());
  EXPECT_TRUE(all.differentiated.contains("with_field"));
}

/// The family that a kind of operation belongs to: its generator must cover all of them.
struct Home {
  Family family;
  Op first, last;
};
constexpr Home kHomes[] = {
    {Family::kArithmetic, Op::kAdd, Op::kNeg},
    {Family::kConditional, Op::kEq, Op::kWhere},
    {Family::kInteger, Op::kBitAnd, Op::kShiftRight},
    {Family::kArrayAccess, Op::kWrapIndex, Op::kWrapIndex},
    {Family::kPrecision, Op::kCast, Op::kCast},
    {Family::kInteger, Op::kReinterpret, Op::kReinterpret},
    {Family::kMath, Op::kAbs, Op::kRadians},
    {Family::kVector, Op::kMake, Op::kCwDiv},
    {Family::kMatrix, Op::kMake, Op::kInsert},
    {Family::kMatrix, Op::kCwMul, Op::kInverse},
    {Family::kQuaternion, Op::kMake, Op::kMake},
    {Family::kQuaternion, Op::kExtract, Op::kDot},
    {Family::kQuaternion, Op::kLength, Op::kLengthSquared},
    {Family::kQuaternion, Op::kQuatInverse, Op::kQuatInverse},
    {Family::kTransform, Op::kTranslation, Op::kSpatialBottom},
    {Family::kStructParam, Op::kWithField, Op::kWithField},
    {Family::kTile, Op::kTileProduct, Op::kTileRunSpread},
};

TEST(OperationCoverage, EachFamilyCoversItsOperations) {
  std::set<Op> at_home;
  for (const Home& home : kHomes) {
    const Contents& contents = generated().at(home.family);
    for (int number = static_cast<int>(home.first); number <= static_cast<int>(home.last); ++number) {
      const ir::OperationEntry& operation = row(static_cast<Op>(number));
      at_home.insert(operation.op);
      if (!can_be_said(operation)) continue;
      const std::string where = fmt::format("{} in {}", operation.mnemonic, row(home.family).name);
      EXPECT_TRUE(contents.computed.contains(operation.mnemonic)) << where;
      EXPECT_TRUE(!can_be_differentiated(operation) || contents.differentiated.contains(operation.mnemonic))
          << where << ": no derivative";
    }
  }
  for (const ir::OperationEntry& operation : ir::kOperations)
    EXPECT_TRUE(at_home.contains(operation.op)) << operation.mnemonic << " belongs to no family";
}

}  // namespace
}  // namespace assay::harness
