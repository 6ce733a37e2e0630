// The part of ExpressionReader that reads parts of arrays and vectors: a[i], a[1:, j], v[0:2].
#include <algorithm>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

namespace {

/// The parts of start:stop:step, null where left out.
struct Slice {
  Node start, stop, step;
};

Slice slice_parts(Node slice) {
  Slice parts;
  Node* next[] = {&parts.start, &parts.stop, &parts.step};
  std::size_t at = 0;
  for (const Node token : slice.tokens()) {
    if (token.text() == ":") ++at;
    else if (at < 3) *next[at] = token;
  }
  return parts;
}

}  // namespace

ExprId ExpressionReader::as_i32(Node node, ExprId value) {
  if (value == kNone || context_.type_of(value) == ir::kI32) return value;
  context_.builder.at(node.loc());
  return context_.builder.cast(ir::kI32, value);
}

/// Fixes, or cuts to a range, the first dimension that is left behind `passed` others. False after a report.
bool ExpressionReader::index_dimension(Place& place, Node index, std::size_t& passed) {
  auto at = place.dimensions.begin();
  int number = 0;
  for (std::size_t left = passed;; ++at) {
    if (at == place.dimensions.end()) {
      context_.error(index, "too many indices for what is left of the array");
      return false;
    }
    if (at->kind == Dimension::Kind::kFixed) continue;
    if (left-- == 0) break;
    ++number;
  }
  if (index.grammar_name() == "slice") {
    ++passed;
    return cut(place, *at, index, number);
  }
  const auto written = literal(index);
  const bool from_end = written && !written->number().is_real && written->number().integer < 0;
  ExprId position = kNone;
  if (from_end) {
    const ExprId extent = extent_of(context_, index, place, number);
    context_.builder.at(index.loc());
    position = context_.operation(index, Op::kAdd, {extent, context_.builder.i32(written->number().integer)});
  } else {
    position = index_value(index);
  }
  if (position == kNone) return false;
  if (at->kind == Dimension::Kind::kRange) position = position_in(index, *at, as_i32(index, position));
  *at = {.kind = Dimension::Kind::kFixed, .index = position};
  const ir::Type array = context_.function.var(place.variable).type;
  const auto rank = std::ranges::count_if(
      place.dimensions, [](const Dimension& dimension) { return dimension.kind != Dimension::Kind::kFixed; });
  place.type = rank == 0 ? array.element() : array.element().array_of(static_cast<int>(rank));
  return true;
}

/// Where the range has its element number `position`. Uses up the range's start.
ExprId ExpressionReader::position_in(Node node, const Dimension& range, ExprId position) {
  context_.builder.at(node.loc());
  if (range.step != 1) position = context_.operation(node, Op::kMul, {position, context_.builder.i32(range.step)});
  return context_.operation(node, Op::kAdd, {range.start, position});
}

/// start:stop:step of a dimension. As in Python, the bounds are cut to what there is, and negative numbers count from
/// the end.
bool ExpressionReader::cut(Place& place, Dimension& dimension, Node slice, int number) {
  if (context_.function.var(place.variable).type.is_local_array()) {
    context_.error(slice, "a local array has no parts");
    return false;
  }
  const Slice parts = slice_parts(slice);
  const auto step = parts.step ? context_.scope().constant(parts.step) : std::optional(Constant::integer(1));
  if (!step || !step->type.is_integer_scalar() || step->number().integer < 1) {
    context_.error(slice, "the step of a slice is a positive number known here");
    return false;
  }
  if (!parts.start && !parts.stop && step->number().integer == 1) return true;
  const auto bound = [&](Node node, ExprId otherwise) -> ExprId {
    if (!node) return otherwise;
    const auto written = literal(node);
    const ExprId extent = extent_of(context_, slice, place, number);
    if (written && !written->number().is_real && written->number().integer >= 0) {
      const ExprId position = as_i32(node, index_value(node));
      return context_.operation(node, Op::kMin, {position, extent});
    }
    if (written && !written->number().is_real) {
      const ExprId position =
          context_.operation(node, Op::kAdd, {extent, context_.builder.i32(written->number().integer)});
      return context_.operation(node, Op::kMax, {position, context_.builder.i32(0)});
    }
    const ExprId position = as_i32(node, index_value(node));
    return position == kNone ? kNone : context_.operation(node, Op::kMin, {position, extent});
  };
  context_.builder.at(slice.loc());
  const ExprId start = bound(parts.start, context_.builder.i32(0));
  const ExprId stop = bound(parts.stop, parts.stop ? kNone : extent_of(context_, slice, place, number));
  if (start == kNone || stop == kNone) return false;
  ExprId extent = stop;
  if (parts.start) {
    extent = context_.operation(slice, Op::kSub, {stop, context_.copy(start)});
    extent = context_.operation(slice, Op::kMax, {extent, context_.builder.i32(0)});
  }
  const std::int64_t stride = step->number().integer;
  if (stride > 1) {
    extent = context_.operation(slice, Op::kAdd, {extent, context_.builder.i32(stride - 1)});
    extent = context_.operation(slice, Op::kDiv, {extent, context_.builder.i32(stride)});
  }
  const bool is_range = dimension.kind == Dimension::Kind::kRange;
  const ExprId first = is_range ? position_in(slice, dimension, start) : start;
  dimension = {.kind = Dimension::Kind::kRange,
               .start = first,
               .extent = extent,
               .step = is_range ? dimension.step * stride : stride};
  return true;
}

/// v[1:3]: a vector of some components, where all bounds are numbers. It can be read only.
Place ExpressionReader::slice_of(Node node, const Place& whole, Node slice) {
  const Slice parts = slice_parts(slice);
  const auto fail = [&](const char* reason) {
    context_.error(slice, reason);
    return Place{};
  };
  if (!whole.type.is_vector()) return fail("only arrays and vectors are sliced");
  const std::int64_t size = whole.type.parts();
  bool known = true;
  const auto number = [&](Node part, std::int64_t otherwise) {
    if (!part) return otherwise;
    const auto value = context_.scope().constant(part);
    if (!value || !value->type.is_integer_scalar()) {
      known = false;
      return otherwise;
    }
    return value->number().integer;
  };
  const std::int64_t step = number(parts.step, 1);
  std::int64_t start = number(parts.start, 0);
  std::int64_t stop = number(parts.stop, size);
  if (!known || step < 1) return fail("the bounds of a vector's slice are numbers known here, its step is positive");
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  stop = std::clamp<std::int64_t>(stop < 0 ? stop + size : stop, 0, size);
  const ExprId vector = read_place(context_, node, whole);
  if (vector == kNone) return {};
  std::vector<ExprId> components;
  for (std::int64_t k = start; k < stop; k += step) {
    context_.builder.at(slice.loc());
    const ExprId object = components.empty() ? vector : context_.copy(vector);
    components.push_back(context_.operation(slice, Op::kExtract, {object, context_.builder.i32(k)}));
  }
  if (components.empty()) return fail("a slice of a vector has a component");
  const ir::Type type = ir::vector_type(whole.type.scalar, static_cast<int>(components.size()));
  const ExprId made = context_.operation(slice, Op::kMake, components, type);
  return {.root = Place::Root::kValue, .value = made, .type = type};
}

// ---- names of parts of arrays

/// What is left of an array that the expression names; 0 if it names none.
int ExpressionReader::array_rank_of(Node node) {
  if (node.is(Syntax::kParenthesized) && node.children().size() == 1) return array_rank_of(node.children()[0]);
  if (node.is(Syntax::kSubscript)) {
    int rank = array_rank_of(node.part(Part::kValue));
    const auto parts = node.children();
    const auto count = [&](const auto& self, Node index) -> void {
      if (index.is(Syntax::kTuple)) {
        for (const Node part : index.children())
          self(self, part);
      } else if (index.grammar_name() != "slice") {
        --rank;
      }
    };
    for (std::size_t i = 1; i < parts.size() && rank > 0; ++i)
      count(count, parts[i]);
    return std::max(rank, 0);
  }
  const ir::VarId name = name_of(node);
  if (const View* view = context_.view(name)) return view->type.rank;
  if (name < 0) return 0;
  const ir::Type type = context_.function.var(name).type;
  return type.is_array() ? type.rank : 0;
}

/// The variable or alias that a name, or a field of a struct with arrays, means.
ir::VarId ExpressionReader::name_of(Node node) {
  if (node.is(Syntax::kIdentifier)) return context_.bindings.find(node.text());
  if (!node.is(Syntax::kAttribute)) return kNone;
  const Pack* pack = context_.pack(name_of(node.part(Part::kObject)));
  if (pack == nullptr) return kNone;
  const auto& fields = context_.file.module().structs[pack->type.struct_id].fields;
  const auto found = std::ranges::find(fields, node.part(Part::kAttribute).text(), &ir::Field::name);
  return found == fields.end() ? kNone : pack->fields[static_cast<std::size_t>(found - fields.begin())];
}

ir::VarId ExpressionReader::alias(Node node, std::string_view name) {
  const ir::VarId named = name_of(node);
  if (context_.pack(named) != nullptr) return named;
  if (array_rank_of(node) == 0) return kNone;
  const Place part = place(node);
  return part.failed() ? kNone : make_view(context_, node, part, name);
}

bool ExpressionReader::names_array(Node node) {
  return context_.pack(name_of(node)) != nullptr || array_rank_of(node) > 0;
}

}  // namespace assay::frontend
