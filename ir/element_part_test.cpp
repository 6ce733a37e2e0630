#include "ir/element_part.hpp"

#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/text.hpp"

namespace assay::ir {
namespace {

/// The only kernel of a module in text form, and its last statement or the value of its last store.
struct ParsedKernel {
  explicit ParsedKernel(const std::string& body) {
    auto parsed = parse_text(
        "struct Body {\n  mass: f32\n  at: vec<f32,3>\n}\n\n"
        "func f(i: i32) -> i32 {\n  return i\n}\n\n"
        "kernel k(v: array<vec<f32,3>,1>, m: array<mat<f32,2,2>,1>, b: array<Body,1>, x: array<f32,1>, n: "
        "array<i32,1>; i) {\n  " +
        body + "\n}\n");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    if (parsed.ok()) module = std::move(*parsed);
  }
  const Function& kernel() const { return module.kernels.at(0); }
  const Stmt& last() const { return kernel().body.statements.back(); }
  ChangedElementPart stored() const { return stored_part(kernel(), std::get<Store>(last().node)); }
  LoadedElementPart loaded() const { return loaded_part(kernel(), std::get<Store>(last().node).value); }

  Module module;
};

TEST(ElementPart, StoreThatReplacesOneComponentChangesOnlyThatComponent) {
  const ChangedElementPart part = ParsedKernel("v[i] = insert(v[i], 2, x[i])").stored();
  ASSERT_EQ(part.path.size(), 1U);
  EXPECT_EQ(part.path[0].whole_type, vector_type(Scalar::kF32, 3));
  EXPECT_EQ(part.path[0].field_index, kNone);
}

TEST(ElementPart, StoreThatReplacesOneComponentOfARowChangesOnlyThatComponent) {
  const ParsedKernel k("m[i] = insert(m[i], 1, insert(extract(m[i], 1), 0, x[i]))");
  const ChangedElementPart part = k.stored();
  ASSERT_EQ(part.path.size(), 2U);
  EXPECT_EQ(part_type(k.module, part.path[0].whole_type, part.path), kF32);
}

TEST(ElementPart, StoreOfChangedCopyOfAnotherElementChangesTheWholeElement) {
  EXPECT_TRUE(ParsedKernel("v[i] = insert(v[add(i, 1)], 2, x[i])").stored().path.empty());
  EXPECT_TRUE(ParsedKernel("v[i] = v[i]").stored().path.empty());
}

TEST(ElementPart, StoreOfChangedCopyOfAnotherRowChangesTheWholeRow) {
  EXPECT_EQ(ParsedKernel("m[i] = insert(m[i], 1, insert(extract(m[i], 0), 0, x[i]))").stored().path.size(), 1U);
}

TEST(ElementPart, StoreWithCallInIndexChangesTheWholeElement) {
  EXPECT_TRUE(ParsedKernel("v[f(i)] = insert(v[f(i)], 2, x[i])").stored().path.empty());
}

TEST(ElementPart, StoreToComponentOfFieldIsRecognizedAsChangeOfThatComponent) {
  const ParsedKernel k("b[i] = with_field(b[i], at, insert(b[i].at, 0, x[i]))");
  const ChangedElementPart part = k.stored();
  ASSERT_EQ(part.path.size(), 2U);
  EXPECT_EQ(part.path[0].field_index, 1);
  EXPECT_EQ(part_type(k.module, part.path[0].whole_type, part.path), kF32);
}

TEST(ElementPart, AtomicOfFieldChangesThatFieldOrComponentOfIt) {
  const ParsedKernel whole("atomic_add(b[i].at, v[i])");
  const ChangedElementPart field = updated_part(whole.module, whole.kernel(), std::get<Atomic>(whole.last().node));
  ASSERT_EQ(field.path.size(), 1U);
  EXPECT_EQ(field.path[0].field_index, 1);
  const ParsedKernel part("atomic_add(b[i].at, insert(splat<vec<f32,3>>(0.0), 1, x[i]))");
  const ChangedElementPart component = updated_part(part.module, part.kernel(), std::get<Atomic>(part.last().node));
  ASSERT_EQ(component.path.size(), 2U);
  EXPECT_EQ(part_type(part.module, component.path[0].whole_type, component.path), kF32);
}

TEST(ElementPart, AdditionOfVectorWithOneNonzeroComponentChangesOnlyThatComponent) {
  const auto part = [](const std::string& statement) {
    const ParsedKernel k(statement);
    return updated_part(k.module, k.kernel(), std::get<Atomic>(k.last().node)).path.size();
  };
  EXPECT_EQ(part("atomic_add(v[i], insert(splat<vec<f32,3>>(0.0), 1, x[i]))"), 1U);
  EXPECT_EQ(part("atomic_add(v[i], insert(splat<vec<f32,3>>(1.0), 1, x[i]))"), 0U);
  EXPECT_EQ(part("atomic_max(v[i], insert(splat<vec<f32,3>>(0.0), 1, x[i]))"), 0U) << "zero is not neutral";
  EXPECT_EQ(part("let old: vec<f32,3> = atomic_add(v[i], insert(splat<vec<f32,3>>(0.0), 1, x[i]))"), 0U);
}

TEST(ElementPart, ExtractingOneComponentReadsOnlyThatComponent) {
  EXPECT_EQ(ParsedKernel("x[i] = extract(v[i], 2)").loaded().path.size(), 1U);
  EXPECT_EQ(ParsedKernel("x[i] = extract(b[i].at, n[i])").loaded().path.size(), 2U);
  EXPECT_EQ(ParsedKernel("x[i] = x[add(i, 1)]").loaded().load, kNone) << "a whole element";
  EXPECT_EQ(ParsedKernel("x[i] = extract(add(v[i], v[i]), 2)").loaded().load, kNone) << "not an element";
}

}  // namespace
}  // namespace assay::ir
