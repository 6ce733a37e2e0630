// Structs of scalars, vectors and integers, by value and in arrays, nested; fields read, changed in variables, and
// whole structs stored.
#include <functional>
#include <string>
#include <utility>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kSin, Op::kTanh, Op::kConditional};
constexpr Interval kSmall{-2, 2};

/// A struct type and the types of its fields.
struct Shape {
  ir::Type type;
  std::vector<ir::Field> fields;
  std::vector<ir::Field> inner;  ///< of the field that is a struct itself; empty if none is
};

ir::Field field_of(Rng& rng, std::string_view name, ir::Type real) {
  const ir::Type type = rng.bernoulli(0.35) ? vector_type(real.scalar, rng.uniform_int(2, 4)) : real;
  return {.name = std::string(name), .type = type};
}

Shape add_shape(KernelSketch& sketch, ir::Type real) {
  Rng& rng = sketch.rng();
  Shape shape;
  const bool nests = rng.bernoulli(0.4);
  ir::Type inner;
  if (nests) {
    shape.inner = {field_of(rng, "gain", real), field_of(rng, "bias", real)};
    inner = sketch.add_struct({.name = "Inner", .fields = shape.inner});
  }
  shape.fields.push_back({.name = "mass", .type = real});
  if (nests) shape.fields.push_back({.name = "inner", .type = inner});
  if (rng.bernoulli(0.7)) shape.fields.push_back(field_of(rng, "position", real));
  if (rng.bernoulli(0.3)) shape.fields.push_back({.name = "kind", .type = ir::kI32});
  if (rng.bernoulli(0.5)) shape.fields.push_back(field_of(rng, "rate", real));
  shape.type = sketch.add_struct({.name = "Item", .fields = shape.fields});
  return shape;
}

/// Offers a field that is a scalar, or each component of one that is a vector.
void offer_field(KernelSketch& sketch, ir::Type type, Interval range, std::function<ir::ExprId()> make) {
  ir::Builder& b = sketch.b();
  if (!ir::is_float(type.scalar) || type.is_struct()) return;
  if (type.is_scalar()) return sketch.offer({.type = type, .range = range, .make = std::move(make)});
  for (int c = 0; c < type.rows; ++c) {
    sketch.offer({.type = type.component(), .range = range, .make = [&b, make, c] {
                    const ir::ExprId whole = make();
                    return b.op(Op::kExtract, {whole, b.i32(c)});
                  }});
  }
}

/// Offers all float fields of the struct made by `make`.
void offer_fields(KernelSketch& sketch, const Shape& shape, Interval range, const std::function<ir::ExprId()>& make) {
  ir::Builder& b = sketch.b();
  for (std::size_t f = 0; f < shape.fields.size(); ++f) {
    const auto number = static_cast<int>(f);
    const auto field = [&b, make, number] {
      const ir::ExprId object = make();
      return b.field(object, number);
    };
    offer_field(sketch, shape.fields[f].type, range, field);
    if (!shape.fields[f].type.is_struct()) continue;
    for (std::size_t k = 0; k < shape.inner.size(); ++k) {
      offer_field(sketch, shape.inner[k].type, range, [&b, field, k] { return b.field(field(), static_cast<int>(k)); });
    }
  }
}

/// A value for a field.
ir::ExprId value_for(ExpressionGenerator& generator, ir::Type type) {
  if (type.is_scalar()) return generator.grow_in(kSmall, 2).expr;
  std::vector<ir::ExprId> components;
  for (int c = 0; c < type.rows; ++c)
    components.push_back(generator.grow_in(kSmall, 1).expr);
  return generator.sketch().b().op(Op::kMake, components, type);
}

/// s.f = e, or s.inner.f = e.
void change_field(ExpressionGenerator& generator, const Shape& shape, ir::VarId object) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const int f = sketch.rng().uniform_int(0, static_cast<int>(shape.fields.size()) - 1);
  const ir::Type type = shape.fields[static_cast<std::size_t>(f)].type;
  if (type.is_integer_scalar()) return;
  ir::ExprId value = ir::kNone;
  if (type.is_struct()) {
    const int k = sketch.rng().uniform_int(0, static_cast<int>(shape.inner.size()) - 1);
    const ir::ExprId part = value_for(generator, shape.inner[static_cast<std::size_t>(k)].type);
    value = b.op(Op::kWithField, {b.field(b.var(object), f), part}, ir::kVoid, k);
  } else {
    value = value_for(generator, type);
  }
  b.assign(object, b.op(Op::kWithField, {b.var(object), value}, ir::kVoid, f));
}

}  // namespace

void make_struct_param(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const Shape shape = add_shape(sketch, real);
  const auto inputs = add_inputs(sketch, real, 1, 1, 2);
  const ir::VarId items = rng.bernoulli(0.8) ? sketch.array("items", shape.type, 1) : ir::kNone;
  const bool by_value = items == ir::kNone || rng.bernoulli(0.5);
  const ir::VarId settings = by_value ? sketch.scalar("settings", shape.type) : ir::kNone;
  const bool in_place = items != ir::kNone && rng.bernoulli(0.3);
  const ir::VarId next = rng.bernoulli(0.6) && !in_place ? sketch.output("next", shape.type) : ir::kNone;
  const auto outputs = add_outputs(sketch, real, 1, 1);
  sketch.start();
  offer_arrays(sketch, inputs);
  ir::Builder& b = sketch.b();
  const auto item = [&sketch, items] { return sketch.b().load(items, sketch.thread_indices()); };
  const auto by_name = [&sketch, settings] { return sketch.b().var(settings); };
  if (items != ir::kNone) offer_fields(sketch, shape, kSmall, item);
  if (by_value) offer_fields(sketch, shape, kSmall, by_name);

  ExpressionGenerator generator(sketch, real, kMenu);
  add_temporaries(generator, rng.uniform_int(0, 2), 2);
  const ir::VarId own = b.let(sketch.unique_name("own"), items != ir::kNone ? item() : by_name());
  for (int left = rng.uniform_int(1, 3); left > 0; --left)
    change_field(generator, shape, own);
  if (rng.bernoulli(0.4)) {
    const RangedExpression test = generator.condition(1);
    sketch.if_(test, [&] { change_field(generator, shape, own); });
  }
  offer_fields(sketch, shape, kSmall, [&b, own] { return b.var(own); });
  if (next != ir::kNone) b.store(next, sketch.thread_indices(), b.var(own));
  sketch.store(outputs[0], generator.add_unused_leaves(generator.grow(3)));
  // Last, since the leaves read the items.
  if (in_place) b.store(items, sketch.thread_indices(), b.var(own));
}

}  // namespace assay::generators
