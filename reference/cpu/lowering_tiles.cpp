// The part of Lowering for tiles: loads and stores, functions applied to each element, sums, products, minimum and
// maximum.
//
// The bounds of sums hold for any order, since a block of threads adds them. Of several equal minimums or maximums, the
// first in row-major order gets the derivative.
#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/analysis.hpp"
#include "reference/cpu/lowering.hpp"

namespace assay::reference {

using ir::Op;
using ir::Scalar;
using ir::Type;

namespace {

/// Row and column of element number `k`; a tile of one dimension is one row.
struct Position {
  int row;
  int column;
};
Position position(Type tile, int k) { return {k / tile.tile_columns(), k % tile.tile_columns()}; }
int rows_of(Type tile) { return tile.tile_size() / tile.tile_columns(); }

/// The element of `small` that is broadcast to element k of `large`.
std::size_t broadcast_source(Type small, Type large, int k) {
  const auto [row, column] = position(large, k);
  const int from_row = rows_of(small) == 1 ? 0 : row;
  const int from_column = small.tile_columns() == 1 ? 0 : column;
  return static_cast<std::size_t>(from_row * small.tile_columns() + from_column);
}

}  // namespace

RegisterId KernelLowering::integer(Scalar type, std::int64_t value) {
  return literal({.type = ir::scalar_type(type), .bits = static_cast<std::uint64_t>(value)})[0];
}

// ---- memory

std::vector<Registers> KernelLowering::tile_indices(Type tile, const std::vector<ir::ExprId>& offsets) {
  std::vector<Registers> by_dimension;
  const std::size_t leading = offsets.size() - static_cast<std::size_t>(tile.tile_rank());
  for (std::size_t d = 0; d < leading; ++d)
    by_dimension.push_back({scalar(offsets[d])});
  for (std::size_t d = leading; d < offsets.size(); ++d) {
    if (type_of(offsets[d]).is_tile()) {
      by_dimension.push_back(expression(offsets[d]));
      continue;
    }
    const Scalar type = type_of(offsets[d]).scalar;
    const RegisterId offset = scalar(offsets[d]);
    Registers& indices = by_dimension.emplace_back();
    for (int k = 0; k < tile.tile[d - leading]; ++k)
      indices.push_back(k == 0 ? offset : lower_elementwise(Op::kAdd, type, {{offset}, {integer(type, k)}})[0]);
  }
  return by_dimension;
}

namespace {

std::uint8_t leading_index_count(const std::vector<Registers>& by_dimension, Type tile) {
  return static_cast<std::uint8_t>(by_dimension.size() - static_cast<std::size_t>(tile.tile_rank()));
}

/// The index registers of element number k. The first indices select a part of the array, if it has more dimensions
/// than the tile.
Registers index_of(Type tile, const std::vector<Registers>& by_dimension, int k) {
  const auto [row, column] = position(tile, k);
  Registers index;
  const std::size_t leading = by_dimension.size() - static_cast<std::size_t>(tile.tile_rank());
  for (std::size_t d = 0; d < leading; ++d)
    index.push_back(by_dimension[d][0]);
  if (tile.tile_rank() == 2) index.push_back(by_dimension[leading][static_cast<std::size_t>(row)]);
  index.push_back(by_dimension.back()[static_cast<std::size_t>(column)]);
  return index;
}

}  // namespace

Registers KernelLowering::load_tile(const ir::Expr& e) {
  const std::int32_t parameter = slot(expr(e.args[0]).variable).parameter;
  const std::vector<Registers> indices = tile_indices(e.type, {e.args.begin() + 1, e.args.end()});
  const Registers destination = temporaries(component_count(e.type));
  const ir::Loc statement = std::exchange(loc_, e.loc.line > 0 ? e.loc : loc_);
  for (int k = 0; k < e.type.tile_size(); ++k) {
    const Instruction load{.code = InstructionCode::kLoad,
                           .index_count = static_cast<std::uint8_t>(indices.size()),
                           .ignores_out_of_bounds = true,
                           .leading_index_count = leading_index_count(indices, e.type),
                           .ignores_negative_indices = ir::has_tile(*frame_->function, std::span(e.args).subspan(1)),
                           .destination = destination[static_cast<std::size_t>(k)],
                           .target = parameter};
    emit(load, index_of(e.type, indices, k));
  }
  loc_ = statement;
  return destination;
}

void KernelLowering::store_or_add_tile(Instruction instruction, Type tile, const std::vector<ir::ExprId>& offsets,
                                       const Registers& value) {
  const std::vector<Registers> indices = tile_indices(tile, offsets);
  instruction.index_count = static_cast<std::uint8_t>(indices.size());
  instruction.ignores_out_of_bounds = true;
  instruction.leading_index_count = leading_index_count(indices, tile);
  instruction.ignores_negative_indices = ir::has_tile(*frame_->function, offsets);
  for (int k = 0; k < tile.tile_size(); ++k) {
    Registers operands = index_of(tile, indices, k);
    operands.push_back(value[static_cast<std::size_t>(k)]);
    instruction.starts_tile = k == 0;
    emit(instruction, operands);
  }
}

// ---- element by element

Registers KernelLowering::call_on_tiles(const ir::Expr& e) {
  std::vector<Registers> values;
  for (const ir::ExprId arg : e.args)
    values.push_back(expression(arg));
  Registers results;
  for (std::size_t k = 0; k < component_count(e.type); ++k) {
    std::vector<Registers> of_element;
    for (const Registers& value : values)
      of_element.push_back({value.size() == 1 ? value[0] : value[k]});
    results.push_back(call_with(e.index, e.args, of_element)[0]);
  }
  return results;
}

Registers KernelLowering::tile_select(const Registers& conditions, const Registers& yes, const Registers& no) {
  const Registers destination = temporaries(std::max({conditions.size(), yes.size(), no.size()}));
  const auto of = [](const Registers& components, std::size_t k) {
    return components.size() == 1 ? components[0] : components[k];
  };
  for (std::size_t k = 0; k < destination.size(); ++k)
    emit({.code = InstructionCode::kSelect, .destination = destination[k]}, {of(conditions, k), of(yes, k), of(no, k)});
  return destination;
}

// ---- the whole tile

Registers KernelLowering::tile_algebra(const ir::Expr& e, const std::vector<Registers>& operands) {
  const Type from = type_of(e.args[0]);
  const Scalar type = from.scalar;
  const Registers& tile = operands[0];
  Registers result(component_count(e.type));
  switch (e.op) {
    case Op::kSplat: return Registers(result.size(), tile[0]);
    case Op::kTileProduct: return tile_product(from, type_of(e.args[1]), operands);
    case Op::kTileSum: return tile_sum(from, e.type, tile);
    case Op::kTileBroadcast:
      for (std::size_t k = 0; k < result.size(); ++k)
        result[k] = tile[broadcast_source(from, e.type, static_cast<int>(k))];
      return result;
    case Op::kTileTranspose:
      for (std::size_t k = 0; k < result.size(); ++k) {
        const auto [row, column] = position(e.type, static_cast<int>(k));
        result[k] = tile[static_cast<std::size_t>(column * from.tile_columns() + row)];
      }
      return result;
    case Op::kTileReverse: return {tile.rbegin(), tile.rend()};
    case Op::kTileMin:
    case Op::kTileMax: return tile_extreme(e.op == Op::kTileMin ? Op::kMin : Op::kMax, type, tile);
    case Op::kTileArgmin:
    case Op::kTileArgmax: return tile_extreme_number(e.op == Op::kTileArgmin ? Op::kLt : Op::kGt, type, tile);
    case Op::kTileScan:
    case Op::kTileScanExclusive: return tile_scan(type, tile, e.op == Op::kTileScan);
    case Op::kTileExtract: return tile_extract(from, operands);
    case Op::kTileInsert: return tile_insert(from, operands);
    case Op::kTileArange: return tile_arange(e.type, operands[0][0], operands[1][0]);
    case Op::kTileView: return tile_view(e, operands);
    case Op::kTileAssign: return tile_assign(e, operands);
    case Op::kTileDiagAdd: return tile_diag_add(from, operands);
    case Op::kTileScanMax:
    case Op::kTileScanMin: return tile_scan_extreme(e.op == Op::kTileScanMax ? Op::kMax : Op::kMin, type, tile);
    case Op::kTileRunSums: return tile_run_sums(type, tile, operands[1]);
    case Op::kTileRunSpread: return tile_run_spread(type, tile, operands[1]);
    default: return tile;  // kTileReshape: elements stay in row-major order
  }
}

RegisterId KernelLowering::sum(Scalar type, const Registers& terms) {
  if (!ir::is_float(type)) {
    return std::accumulate(terms.begin() + 1, terms.end(), terms[0], [&](RegisterId total, RegisterId term) {
      return lower_elementwise(Op::kAdd, type, {{total}, {term}})[0];
    });
  }
  const RegisterId destination = temporary();
  emit({.code = InstructionCode::kSum, .op = Op::kTileSum, .scalar = type, .destination = destination}, terms);
  return destination;
}

RegisterId KernelLowering::sum_of_products(Scalar type, const Registers& a, const Registers& b) {
  if (!ir::is_float(type)) return sum(type, lower_elementwise(Op::kMul, type, {a, b}));
  const RegisterId destination = temporary();
  Registers operands = a;
  operands.insert(operands.end(), b.begin(), b.end());
  emit({.code = InstructionCode::kSumOfProducts, .op = Op::kTileProduct, .scalar = type, .destination = destination},
       operands);
  return destination;
}

Registers KernelLowering::tile_product(Type a, Type b, const std::vector<Registers>& operands) {
  const int inner = a.tile[1];
  Registers result;
  for (int row = 0; row < a.tile[0]; ++row) {
    for (int column = 0; column < b.tile[1]; ++column) {
      Registers left;
      Registers right;
      for (int k = 0; k < inner; ++k) {
        left.push_back(operands[0][static_cast<std::size_t>(row * inner + k)]);
        right.push_back(operands[1][static_cast<std::size_t>(k * b.tile[1] + column)]);
      }
      result.push_back(sum_of_products(a.scalar, left, right));
    }
  }
  return result;
}

Registers KernelLowering::tile_sum(Type from, Type to, const Registers& tile) {
  std::vector<Registers> terms(static_cast<std::size_t>(to.tile_size()));
  for (int k = 0; k < from.tile_size(); ++k)
    terms[broadcast_source(to, from, k)].push_back(tile[static_cast<std::size_t>(k)]);
  Registers result;
  for (const Registers& group : terms)
    result.push_back(sum(from.scalar, group));
  return result;
}

Registers KernelLowering::tile_scan(Scalar type, const Registers& tile, bool inclusive) {
  Registers result;
  for (std::size_t k = 0; k < tile.size(); ++k) {
    const auto end = tile.begin() + static_cast<std::ptrdiff_t>(inclusive ? k + 1 : k);
    result.push_back(end == tile.begin() ? integer(type, 0) : sum(type, {tile.begin(), end}));
  }
  return result;
}

/// In a tie, min and max select the second operand, which is the earlier element here.
Registers KernelLowering::tile_extreme(Op op, Scalar type, const Registers& tile) {
  Registers extreme{tile[0]};
  for (std::size_t k = 1; k < tile.size(); ++k) {
    const bool is_repeated = std::find(tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(k), tile[k]) !=
                             tile.begin() + static_cast<std::ptrdiff_t>(k);
    if (!is_repeated) extreme = lower_elementwise(op, type, {{tile[k]}, extreme});
  }
  return extreme;
}

Registers KernelLowering::tile_extreme_number(Op beats, Scalar type, const Registers& tile) {
  Registers best{tile[0]};
  Registers number{integer(Scalar::kI32, 0)};
  for (std::size_t k = 1; k < tile.size(); ++k) {
    const Registers better = lower_elementwise(beats, type, {{tile[k]}, best});
    best = tile_select(better, {tile[k]}, best);
    number = tile_select(better, {integer(Scalar::kI32, static_cast<std::int64_t>(k))}, number);
  }
  return number;
}

/// Selects the column in each row, then the row, so that an index outside either dimension is reported.
Registers KernelLowering::tile_extract(Type tile, const std::vector<Registers>& operands) {
  const auto columns = static_cast<std::ptrdiff_t>(tile.tile_columns());
  Registers found;
  for (int row = 0; row < rows_of(tile); ++row) {
    const auto first = operands[0].begin() + row * columns;
    Registers choice{operands.back()[0]};
    choice.insert(choice.end(), first, first + columns);
    found.push_back(temporary());
    emit({.code = InstructionCode::kExtract, .destination = found.back()}, choice);
  }
  if (tile.tile_rank() == 1) return found;
  const RegisterId destination = temporary();
  found.insert(found.begin(), operands[1][0]);
  emit({.code = InstructionCode::kExtract, .destination = destination}, found);
  return {destination};
}

Registers KernelLowering::tile_insert(Type tile, const std::vector<Registers>& operands) {
  std::vector<Registers> place(operands.begin(), operands.end() - 1);
  tile_extract(tile, place);  // reports an index out of bounds
  Registers result;
  for (int k = 0; k < tile.tile_size(); ++k) {
    const auto [row, column] = position(tile, k);
    const auto at = [&](const Registers& index, int wanted) {
      return lower_elementwise(Op::kEq, Scalar::kI32, {index, {integer(Scalar::kI32, wanted)}});
    };
    Registers here = at(place.back(), column);
    if (tile.tile_rank() == 2) here = tile_select(here, at(place[1], row), {integer(Scalar::kBool, 0)});
    result.push_back(tile_select(here, operands.back(), {operands[0][static_cast<std::size_t>(k)]})[0]);
  }
  return result;
}

Registers KernelLowering::tile_arange(Type tile, RegisterId first, RegisterId step) {
  Registers result;
  for (int k = 0; k < tile.tile_size(); ++k) {
    const auto bits = ir::is_float(tile.scalar) ? std::bit_cast<std::uint64_t>(static_cast<double>(k))
                                                : static_cast<std::uint64_t>(k);
    const Registers distance = lower_elementwise(Op::kMul, tile.scalar, {{number(tile.scalar, bits)}, {step}});
    result.push_back(lower_elementwise(Op::kAdd, tile.scalar, {{first}, distance})[0]);
  }
  return result;
}

Registers KernelLowering::tile_diag_add(Type tile, const std::vector<Registers>& operands) {
  Registers result = operands[0];
  for (std::size_t k = 0; k < operands[1].size(); ++k) {
    RegisterId& element = result[k * (operands[1].size() + 1)];
    element = lower_elementwise(Op::kAdd, tile.scalar, {{element}, {operands[1][k]}})[0];
  }
  return result;
}

std::optional<std::array<int, 2>> KernelLowering::constant_offsets(Type whole, Type part,
                                                                   std::span<const ir::ExprId> offsets) const {
  std::array<int, 2> found{};
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    const ir::Expr& offset = expr(offsets[d]);
    const auto number = static_cast<std::int64_t>(offset.bits);
    if (offset.kind != ir::ExprKind::kLiteral || number < 0 || number + part.tile[d] > whole.tile[d])
      return std::nullopt;
    found[d + 2 - offsets.size()] = static_cast<int>(number);  // a tile of one dimension is one row
  }
  return found;
}

Registers KernelLowering::tile_view(const ir::Expr& e, const std::vector<Registers>& operands) {
  const Type from = type_of(e.args[0]);
  const auto offsets = constant_offsets(from, e.type, std::span(e.args).subspan(1));
  Registers result;
  for (int k = 0; k < e.type.tile_size(); ++k) {
    const auto [row, column] = position(e.type, k);
    if (offsets) {
      const int place = ((*offsets)[0] + row) * from.tile_columns() + (*offsets)[1] + column;
      result.push_back(operands[0][static_cast<std::size_t>(place)]);
      continue;
    }
    const auto moved = [&](const Registers& offset, int by) {
      return lower_elementwise(Op::kAdd, Scalar::kI32, {offset, {integer(Scalar::kI32, by)}});
    };
    std::vector<Registers> place{operands[0]};
    if (from.tile_rank() == 2) place.push_back(moved(operands[1], row));
    place.push_back(moved(operands.back(), column));
    result.push_back(tile_extract(from, place)[0]);
  }
  return result;
}

Registers KernelLowering::tile_assign(const ir::Expr& e, const std::vector<Registers>& operands) {
  const Type part = type_of(e.args.back());
  const auto rank = static_cast<std::size_t>(part.tile_rank());
  Registers result = operands[0];
  if (const auto offsets = constant_offsets(e.type, part, std::span(e.args).subspan(1, rank))) {
    for (int k = 0; k < part.tile_size(); ++k) {
      const auto [row, column] = position(part, k);
      const int place = ((*offsets)[0] + row) * e.type.tile_columns() + (*offsets)[1] + column;
      result[static_cast<std::size_t>(place)] = operands.back()[static_cast<std::size_t>(k)];
    }
    return result;
  }
  const auto i32 = [&](int number) { return Registers{integer(Scalar::kI32, number)}; };
  const auto of_integers = [&](Op op, const Registers& a, const Registers& b) {
    return lower_elementwise(op, Scalar::kI32, {a, b});
  };
  // Reports an offset out of bounds: reads the first and the last element.
  std::vector<Registers> first(operands.begin(), operands.end() - 1);
  std::vector<Registers> last = first;
  for (std::size_t d = 0; d < rank; ++d)
    last[d + 1] = of_integers(Op::kAdd, last[d + 1], i32(part.tile[d] - 1));
  tile_extract(e.type, first);
  tile_extract(e.type, last);
  const Registers never{integer(Scalar::kBool, 0)};
  for (int k = 0; k < e.type.tile_size(); ++k) {
    const auto [row, column] = position(e.type, k);
    std::vector<Registers> place{operands.back()};
    Registers inside{integer(Scalar::kBool, 1)};
    for (std::size_t d = 0; d < rank; ++d) {
      const Registers index = of_integers(Op::kSub, i32(d + 1 == rank ? column : row), operands[d + 1]);
      const Registers before_end = of_integers(Op::kLt, index, i32(part.tile[d]));
      const Registers within = tile_select(of_integers(Op::kGe, index, i32(0)), before_end, never);
      inside = tile_select(inside, within, never);
      place.push_back(tile_select(within, index, i32(0)));
    }
    RegisterId& element = result[static_cast<std::size_t>(k)];
    element = tile_select(inside, tile_extract(part, place), {element})[0];
  }
  return result;
}

Registers KernelLowering::tile_scan_extreme(Op op, Scalar type, const Registers& tile) {
  Registers result{tile[0]};
  for (std::size_t k = 1; k < tile.size(); ++k)
    result.push_back(lower_elementwise(op, type, {{tile[k]}, {result.back()}})[0]);
  return result;
}

/// The terms of a run of equal values are added to the first element of the run; the other elements are zero.
Registers KernelLowering::tile_run_sums(Scalar type, const Registers& values, const Registers& terms) {
  const Registers zero{integer(type, 0)};
  Registers result;
  for (std::size_t k = 0; k < values.size(); ++k) {
    Registers belongs{integer(Scalar::kBool, 1)};
    if (k > 0) belongs = lower_elementwise(Op::kNe, type, {{values[k]}, {values[k - 1]}});
    Registers added = tile_select(belongs, {terms[k]}, zero);
    for (std::size_t i = k + 1; i < values.size(); ++i) {
      const Registers same = lower_elementwise(Op::kEq, type, {{values[i]}, {values[i - 1]}});
      belongs = tile_select(belongs, same, {integer(Scalar::kBool, 0)});
      added.push_back(tile_select(belongs, {terms[i]}, zero)[0]);
    }
    result.push_back(sum(type, added));
  }
  return result;
}

/// Each element of a run of equal values gets the term of the first element of the run.
Registers KernelLowering::tile_run_spread(Scalar type, const Registers& values, const Registers& terms) {
  Registers result{terms[0]};
  for (std::size_t k = 1; k < values.size(); ++k) {
    const Registers same = lower_elementwise(Op::kEq, type, {{values[k]}, {values[k - 1]}});
    result.push_back(tile_select(same, {result.back()}, {terms[k]})[0]);
  }
  return result;
}

}  // namespace assay::reference
