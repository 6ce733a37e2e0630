#include "reference/cpu/testing/operation_samples.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ir/verifier.hpp"

namespace assay::reference::testing {
namespace {

using ir::ExprId;
using ir::Op;
using ir::Type;
using Args = std::vector<ExprId>;

Usage plain(Op op, std::vector<Type> operands, std::string variant = "") {
  return {op, std::move(variant), std::move(operands),
          [op](OracleFixture& w, const Args& args) { return w.b().op(op, std::span<const ExprId>(args)); }, nullptr};
}

/// Usages of operations with operands that are not all floats, or with a requested type.
std::vector<Usage> particular(Type f, Type v, Type m) {
  const auto positive = [](OracleFixture& w, ExprId x) {
    return w.op(Op::kGt, {x, w.b().literal(w.b().type_of(x), 0.0)});
  };
  const auto select = [positive](Op op) {
    return [op, positive](OracleFixture& w, const Args& a) { return w.op(op, {positive(w, a[0]), a[1], a[2]}); };
  };
  const Type other = f == ir::kF64 ? ir::kF32 : ir::kF64;
  return {
      {Op::kConditional, "", {f, f, f}, select(Op::kConditional)},
      {Op::kConditional, "vector", {f, v, v}, select(Op::kConditional)},
      {Op::kWhere, "", {f, f, f}, select(Op::kWhere)},
      {Op::kWhere, "vector", {f, v, v}, select(Op::kWhere)},
      {Op::kCast, "", {f}, [other](OracleFixture& w, const Args& a) { return w.b().cast(other, a[0]); }},
      {Op::kMake,
       "",
       {f, f, f},
       [v](OracleFixture& w, const Args& a) {
         return w.b().make(v, {a[2], a[0], a[1]});
       }},
      {Op::kMake,
       "rows",
       {v, v},
       [m](OracleFixture& w, const Args& a) {
         return w.b().make(m, {a[1], a[0]});
       }},
      {Op::kSplat, "", {f}, [v](OracleFixture& w, const Args& a) { return w.b().op(Op::kSplat, {a[0]}, v); }},
      {Op::kExtract,
       "",
       {v},
       [](OracleFixture& w, const Args& a) {
         return w.op(Op::kExtract, {a[0], w.b().i32(1)});
       }},
      {Op::kExtract,
       "dynamic",
       {v, f},
       [positive](OracleFixture& w, const Args& a) {
         const ExprId index = w.op(Op::kConditional, {positive(w, a[1]), w.b().i32(2), w.b().i32(0)});
         return w.op(Op::kExtract, {a[0], index});
       }},
      {Op::kMake,
       "transform",
       {v, f},
       [v](OracleFixture& w, const Args& a) {
         const Type quaternion = ir::quaternion_type(v.scalar);
         return w.b().make(ir::transform_type(v.scalar), {a[0], w.b().make(quaternion, {a[0], a[1]})});
       }},
      {Op::kSplat, "matrix", {f}, [m](OracleFixture& w, const Args& a) { return w.b().op(Op::kSplat, {a[0]}, m); }},
      {Op::kExtract,
       "row",
       {m},
       [](OracleFixture& w, const Args& a) {
         return w.op(Op::kExtract, {a[0], w.b().i32(1)});
       }},
      {Op::kExtract,
       "dynamic row",
       {m, f},
       [positive](OracleFixture& w, const Args& a) {
         const ExprId index = w.op(Op::kConditional, {positive(w, a[1]), w.b().i32(1), w.b().i32(0)});
         return w.op(Op::kExtract, {a[0], index});
       }},
      {Op::kInsert,
       "row",
       {m, v},
       [](OracleFixture& w, const Args& a) {
         return w.op(Op::kInsert, {a[0], w.b().i32(0), a[1]});
       }},
      {Op::kInsert,
       "dynamic row",
       {m, v, f},
       [positive](OracleFixture& w, const Args& a) {
         const ExprId index = w.op(Op::kConditional, {positive(w, a[2]), w.b().i32(1), w.b().i32(0)});
         return w.op(Op::kInsert, {a[0], index, a[1]});
       }},
      {Op::kInsert,
       "",
       {v, f},
       [](OracleFixture& w, const Args& a) {
         return w.op(Op::kInsert, {a[0], w.b().i32(2), a[1]});
       }},
      {Op::kInsert,
       "dynamic",
       {v, f},
       [positive](OracleFixture& w, const Args& a) {
         const ExprId index = w.op(Op::kConditional, {positive(w, a[1]), w.b().i32(2), w.b().i32(0)});
         return w.op(Op::kInsert, {a[0], index, a[1]});
       }},
  };
}

/// Usages of tile operations: tiles are built from two scalars, and one element of the result is extracted.
std::vector<Usage> of_tiles(Type f) {
  const auto insert = [](OracleFixture& w, ExprId tile, std::vector<std::int64_t> place, ExprId value) {
    std::vector<ExprId> args{tile};
    for (const std::int64_t index : place)
      args.push_back(w.b().i32(index));
    args.push_back(value);
    return w.b().op(Op::kTileInsert, args);
  };
  const auto pair = [f, insert](OracleFixture& w, ExprId x, ExprId y) {
    const ExprId first = insert(w, w.b().zero(ir::tile_type(f.scalar, 2)), {0}, x);
    return insert(w, first, {1}, y);
  };
  /// x y / y 0
  const auto square = [f, insert](OracleFixture& w, ExprId x, ExprId y) {
    const ExprId first = insert(w, w.b().zero(ir::tile_type(f.scalar, 2, 2)), {0, 0}, x);
    return insert(w, insert(w, first, {0, 1}, y), {1, 0}, y);
  };
  const auto at = [](OracleFixture& w, ExprId tile, int row, int column) {
    return w.op(Op::kTileExtract, {tile, w.b().i32(row), w.b().i32(column)});
  };
  const auto one = [](OracleFixture& w, ExprId tile, int number) {
    return w.op(Op::kTileExtract, {tile, w.b().i32(number)});
  };
  std::vector<Usage> all;
  const auto add = [&](Op op, std::string variant, std::function<ExprId(OracleFixture&, ExprId, ExprId)> build) {
    all.push_back({op,
                   std::move(variant),
                   {f, f},
                   [build](OracleFixture& w, const Args& a) { return build(w, a[0], a[1]); },
                   nullptr});
  };
  for (const Op op : {Op::kTileMin, Op::kTileMax}) {
    add(op, "", [=](OracleFixture& w, ExprId x, ExprId y) { return one(w, w.op(op, {pair(w, x, y)}), 0); });
  }
  for (const Op op : {Op::kTileScan, Op::kTileScanExclusive, Op::kTileReverse, Op::kTileScanMax, Op::kTileScanMin}) {
    add(op, "", [=](OracleFixture& w, ExprId x, ExprId y) { return one(w, w.op(op, {pair(w, x, y)}), 1); });
  }
  add(Op::kTileProduct, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    return at(w, w.op(Op::kTileProduct, {square(w, x, y), square(w, y, x)}), 0, 1);
  });
  add(Op::kTileSum, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    return one(w, w.b().op(Op::kTileSum, {square(w, x, y)}, ir::tile_type(f.scalar, 1)), 0);
  });
  add(Op::kTileSum, "along_rows", [=](OracleFixture& w, ExprId x, ExprId y) {
    return at(w, w.b().op(Op::kTileSum, {square(w, x, y)}, ir::tile_type(f.scalar, 2, 1)), 1, 0);
  });
  add(Op::kTileBroadcast, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    const ExprId rows = w.b().op(Op::kTileBroadcast, {pair(w, x, y)}, ir::tile_type(f.scalar, 2, 2));
    return at(w, w.op(Op::kMul, {rows, square(w, x, y)}), 0, 1);
  });
  add(Op::kTileReshape, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    return one(w, w.b().op(Op::kTileReshape, {square(w, x, y)}, ir::tile_type(f.scalar, 4)), 2);
  });
  add(Op::kTileTranspose, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    const ExprId turned = w.op(Op::kTileTranspose, {w.op(Op::kMul, {square(w, x, y), x})});
    return at(w, turned, 1, 0);
  });
  for (const Op op : {Op::kTileRunSums, Op::kTileRunSpread}) {
    // Two runs: the first has two elements.
    add(op, "", [=](OracleFixture& w, ExprId x, ExprId y) {
      const Type four = ir::tile_type(f.scalar, 4);
      const ExprId runs =
          insert(w, insert(w, w.b().zero(four), {2}, w.b().literal(f, 1.0)), {3}, w.b().literal(f, 2.0));
      const ExprId terms = w.b().op(Op::kTileReshape, {square(w, x, y)}, four);
      return one(w, w.op(op, {runs, terms}), op == Op::kTileRunSums ? 0 : 1);
    });
  }
  add(Op::kTileArange, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    return one(w, w.b().op(Op::kTileArange, {x, y}, ir::tile_type(f.scalar, 4)), 3);
  });
  add(Op::kTileView, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    const Type column = ir::tile_type(f.scalar, 2, 1);
    return at(w, w.b().op(Op::kTileView, {square(w, x, y), w.b().i32(0), w.b().i32(1)}, column), 1, 0);
  });
  add(Op::kTileAssign, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    const ExprId row = w.b().op(Op::kTileReshape, {pair(w, y, x)}, ir::tile_type(f.scalar, 1, 2));
    const ExprId changed = w.op(Op::kTileAssign, {square(w, x, y), w.b().i32(1), w.b().i32(0), row});
    return w.op(Op::kMul, {at(w, changed, 1, 1), at(w, changed, 0, 1)});
  });
  add(Op::kTileDiagAdd, "", [=](OracleFixture& w, ExprId x, ExprId y) {
    return at(w, w.op(Op::kTileDiagAdd, {square(w, x, y), pair(w, x, y)}), 1, 1);
  });
  add(Op::kTileExtract, "", [=](OracleFixture& w, ExprId x, ExprId y) { return at(w, square(w, x, y), 1, 0); });
  add(Op::kTileInsert, "", [=](OracleFixture& w, ExprId x, ExprId y) { return one(w, pair(w, x, y), 1); });
  return all;
}

void add_usages(std::vector<Usage>& all, Op op, Type f, Type v, Type m) {
  const ir::OperationEntry& row = ir::row(op);
  const Type square = ir::matrix_type(f.scalar, 3, 3);
  const Type q = ir::quaternion_type(f.scalar);
  const Type t = ir::transform_type(f.scalar);
  switch (row.rule) {
    case ir::TypeRule::kAddition:
      all.push_back(plain(op, {f, f}));
      all.push_back(plain(op, {v, v}, "vector"));
      all.push_back(plain(op, {m, m}, "matrix"));
      all.push_back(plain(op, {t, t}, "transform"));
      return;
    case ir::TypeRule::kProduct:
      all.push_back(plain(op, {f, f}));
      all.push_back(plain(op, {v, f}, "vector by scalar"));
      all.push_back(plain(op, {f, v}, "scalar by vector"));
      all.push_back(plain(op, {f, m}, "scalar by matrix"));
      all.push_back(plain(op, {q, f}, "quaternion by scalar"));
      all.push_back(plain(op, {q, q}, "quaternions"));
      all.push_back(plain(op, {m, square}, "matrix by matrix"));
      all.push_back(plain(op, {m, v}, "matrix by column"));
      all.push_back(plain(op, {v, square}, "row by matrix"));
      return;
    case ir::TypeRule::kQuotient:
      all.push_back(plain(op, {f, f}));
      all.push_back(plain(op, {v, f}, "vector by scalar"));
      all.push_back(plain(op, {m, f}, "matrix by scalar"));
      return;
    case ir::TypeRule::kNegation:
      all.push_back(plain(op, {f}));
      all.push_back(plain(op, {v}, "vector"));
      all.push_back(plain(op, {m}, "matrix"));
      return;
    case ir::TypeRule::kNumericScalars:
    case ir::TypeRule::kFloatScalars:
      all.push_back(plain(op, std::vector<Type>(static_cast<std::size_t>(row.arity), f)));
      return;
    case ir::TypeRule::kVectorsOrMatrices:
      all.push_back(plain(op, {v, v}));
      all.push_back(plain(op, {m, m}, "matrix"));
      return;
    case ir::TypeRule::kOuter: all.push_back(plain(op, {v, ir::vector_type(f.scalar, 2)})); return;
    case ir::TypeRule::kDoubleDot: all.push_back(plain(op, {m, m})); return;
    case ir::TypeRule::kTranspose: all.push_back(plain(op, {m})); return;
    case ir::TypeRule::kInverse:
      for (int n = 2; n <= 4; ++n)
        all.push_back(plain(op, {ir::matrix_type(f.scalar, n, n)}, std::to_string(n)));
      return;
    case ir::TypeRule::kDot:
      all.push_back(plain(op, {v, v}));
      all.push_back(plain(op, {q, q}, "quaternion"));
      return;
    case ir::TypeRule::kCross: all.push_back(plain(op, {v, v})); return;
    case ir::TypeRule::kLength:
    case ir::TypeRule::kLengthSquared:
      all.push_back(plain(op, {v}));
      all.push_back(plain(op, {q}, "quaternion"));
      return;
    case ir::TypeRule::kNormalize: all.push_back(plain(op, {v})); return;
    case ir::TypeRule::kQuaternion: all.push_back(plain(op, {q})); return;
    case ir::TypeRule::kTranslation:
    case ir::TypeRule::kRotation: all.push_back(plain(op, {t})); return;
    case ir::TypeRule::kSpatialVectorHalf: all.push_back(plain(op, {ir::vector_type(f.scalar, 6)})); return;
    default: return;
  }
}

}  // namespace

std::string Usage::name() const {
  std::string text(function != nullptr ? function->name : ir::row(op).mnemonic);
  if (!variant.empty()) text += "_" + variant;
  for (char& c : text)
    c = c == ' ' ? '_' : c;
  return text;
}

std::vector<Usage> usages(ir::Scalar scalar) {
  const Type f = ir::scalar_type(scalar);
  const Type v = ir::vector_type(scalar, 3);
  const Type m = ir::matrix_type(scalar, 2, 3);
  std::vector<Usage> all = particular(f, v, m);
  for (Usage& usage : of_tiles(f))
    all.push_back(std::move(usage));
  for (int i = 0; i < ir::kOpCount; ++i)
    add_usages(all, static_cast<Op>(i), f, v, m);
  return all;
}

namespace {

/// The types for a letter of LibraryFunctionInfo::operand_kind_letters.
std::vector<Type> types_of(char letter, ir::Scalar scalar) {
  switch (letter) {
    case 's': return {ir::scalar_type(scalar)};
    case '3': return {ir::vector_type(scalar, 3)};
    case '6': return {ir::vector_type(scalar, 6)};
    case 'q': return {ir::quaternion_type(scalar)};
    case 't': return {ir::transform_type(scalar)};
    case 'e': return {ir::matrix_type(scalar, 2, 2)};
    case 'r': return {ir::matrix_type(scalar, 3, 3)};
    case 'm': return {ir::matrix_type(scalar, 2, 3)};
    case 'd': return {ir::matrix_type(scalar, 3, 3)};
    case 'i': return {ir::matrix_type(scalar, 2, 2), ir::matrix_type(scalar, 3, 3), ir::matrix_type(scalar, 4, 4)};
    case '4': return {ir::matrix_type(scalar, 4, 4)};
    case 'n':
    case 'p':
    case 'z': return {ir::kI32};
    case 'w': return {ir::vector_type(ir::Scalar::kI32, 2)};
    case 'k': return {ir::matrix_type(ir::Scalar::kI32, 2, 2)};
    case 'u': return {ir::scalar_type(ir::Scalar::kU32)};
    case 'a': return {ir::kF32};
    case '2': return {ir::vector_type(ir::Scalar::kF32, 2)};
    case 'h': return {ir::vector_type(ir::Scalar::kF32, 3)};
    case 'c': return {ir::vector_type(ir::Scalar::kF32, 4)};
    default: return {ir::vector_type(scalar, 2), ir::vector_type(scalar, 5)};
  }
}

/// The values of the integer operands of library functions: axes are 0, 1, 2, periods 2, 3, 4, 5, and the random state
/// and the octaves of noise 9 and 2.
ExprId integer_operand(OracleFixture& w, const ir::LibraryFunctionInfo& row, std::size_t number) {
  const char letter = row.operand_kind_letters[number];
  const auto before = row.operand_kind_letters.substr(0, number);
  if (letter == 'u') return w.b().literal(ir::scalar_type(ir::Scalar::kU32), std::int64_t{number == 0 ? 9 : 2});
  return w.b().i32(std::ranges::count(before, letter) + (letter == 'p' ? 2 : 0));
}
bool is_integer(Type type) { return type.is_integer_scalar(); }

}  // namespace

std::vector<Usage> library_usages(ir::Scalar scalar) {
  std::vector<Usage> all;
  for (const ir::LibraryFunctionInfo& row : ir::library()) {
    const std::vector<Type> first = types_of(row.operand_kind_letters[0], scalar);
    for (std::size_t n = 0; n < first.size(); ++n) {
      std::vector<Type> operands;
      for (const char letter : row.operand_kind_letters)
        operands.push_back(types_of(letter, scalar)[letter == row.operand_kind_letters[0] ? n : 0]);
      ir::Module module;
      const int index = ir::library_function(module, row.name, operands).value();
      if (!module.functions[static_cast<std::size_t>(index)].results[0].has_float_components()) continue;
      const auto build = [row, operands](OracleFixture& w, const Args& floats) {
        const int function = ir::library_function(w.module(), row.name, operands).value();
        Args args;
        auto next = floats.begin();
        for (std::size_t k = 0; k < operands.size(); ++k)
          args.push_back(is_integer(operands[k]) ? integer_operand(w, row, k) : *next++);
        const auto& results = w.module().functions[static_cast<std::size_t>(function)].results;
        if (results.size() == 1) return w.b().call(function, args);
        // Several results become the components of one vector, or of a matrix with two columns. The state of a random
        // number generator is left out.
        int components = 0;
        std::vector<ir::ExprId> parts;
        const std::vector<ir::VarId> variables =
            w.b().call_statement(function, args, std::vector<std::string>(results.size(), "r"));
        for (std::size_t k = 0; k < results.size(); ++k) {
          if (!results[k].has_float_components()) continue;
          components += results[k].components();
          parts.push_back(w.b().var(variables[k]));
        }
        if (parts.size() == 1) return parts[0];
        const ir::Scalar number = results[0].scalar;
        const bool fits = components <= ir::kMaxMatrixSide;
        return w.b().make(fits ? ir::vector_type(number, components) : ir::matrix_type(number, components / 2, 2),
                          parts);
      };
      const std::string variant =
          std::string(row.operand_kind_letters) + (first.size() > 1 ? std::to_string(first[n].rows) : "");
      std::vector<Type> floats = operands;
      std::erase_if(floats, is_integer);
      all.push_back({Op::kAdd, variant, floats, build, &row});
    }
  }
  return all;
}

std::vector<Usage> all_usages(ir::Scalar scalar) {
  std::vector<Usage> all = usages(scalar);
  for (Usage& usage : library_usages(scalar))
    all.push_back(std::move(usage));
  return all;
}

std::vector<std::vector<double>> sample(const Usage& usage, Rng& rng) {
  constexpr ir::SamplingDomain kOfFunctions{.operand_intervals = {{{-2, 2}, {-2, 2}, {-2, 2}}}};
  const ir::SamplingDomain& domain = usage.function != nullptr ? kOfFunctions : ir::row(usage.op).domain;
  const bool selects = usage.function == nullptr &&
                       (usage.op == Op::kConditional || usage.op == Op::kWhere || usage.variant.starts_with("dynamic"));
  std::vector<std::vector<double>> point;
  for (std::size_t k = 0; k < usage.operands.size(); ++k) {
    const ir::Interval interval =
        selects || usage.operands.size() > 3 ? ir::Interval{-8, 8} : domain.operand_intervals[k];
    std::vector<double> components;
    for (int c = 0; c < usage.operands[k].components(); ++c) {
      double x = 0;
      do {
        x = ir::round_to(usage.operands[k].scalar, rng.uniform_real(interval.low, interval.high));
      } while (domain.relation == ir::Relation::kSecondNotZero && k == 1 && std::abs(x) < interval.high / 16);
      components.push_back(x);
    }
    point.push_back(std::move(components));
  }
  return point;
}

SampleKernel kernel_at(const Usage& usage, const std::vector<std::vector<double>>& point) {
  SampleKernel sample{OracleFixture(), ir::kNone};
  OracleFixture& w = sample.fixture;
  std::vector<ir::VarId> inputs;
  for (std::size_t k = 0; k < point.size(); ++k)
    inputs.push_back(w.array("x" + std::to_string(k), usage.operands[k], {1}, point[k]));
  // The type of the result is known only after the expression has been built, so it is built twice.
  OracleFixture draft;
  Args loads;
  for (std::size_t k = 0; k < point.size(); ++k)
    draft.array("x", usage.operands[k], {1});
  const ir::VarId j = draft.thread_index(1);
  for (std::size_t k = 0; k < point.size(); ++k)
    loads.push_back(draft.at(static_cast<ir::VarId>(k), j));
  const Type result = draft.b().type_of(usage.build(draft, loads));
  sample.out = w.zeros("out", result, {1});
  const ir::VarId i = w.thread_index(1);
  loads.clear();
  for (const ir::VarId input : inputs)
    loads.push_back(w.at(input, i));
  w.b().store(sample.out, {w.var(i)}, usage.build(w, loads));
  return sample;
}

}  // namespace assay::reference::testing
