#include "ir/index_wrapping.hpp"

#include <string>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::ir {
namespace {

/// The text of a kernel's body after wrapping, without the indentation of its lines.
std::string wrapped(const std::string& body) {
  const std::string head = "kernel k(x: array<f32,1>, m: array<f32,2>, at: array<i32,1>, n: i32, u: u32; i) {\n";
  Module module = parse_text(head + body + "}\n").value();
  wrap_indices(module);
  EXPECT_TRUE(verify(module).empty());
  const std::string text = to_text(module);
  return text.substr(head.size(), text.size() - head.size() - 2);
}

TEST(WrapIndices, DoesNotWrapIndicesThatCannotBeNegative) {
  for (const std::string body : {
           "  x[i] = 1.0\n",
           "  x[add(i, 1)] = x[mul(i, 2)]\n",
           "  x[u] = x[max(n, 0)]\n",
           "  x[bit_and(n, 7)] = x[abs(n)]\n",
           "  let j: i32 = div(i, 2)\n  x[j] = 1.0\n",
           "  for j: i32 in range(1, n, 1) {\n    x[j] = x[sub(j, 1)]\n  }\n",
           "  for j: i32 in range(n, -1, -1) {\n    x[j] = 1.0\n  }\n",
       })
    EXPECT_EQ(wrapped(body), body);
}

TEST(WrapIndices, WrapsIndicesOfStoredTileElementsOnly) {
  const std::string declared = "  let t: tile<f32,4> = splat<tile<f32,4>>(0.0)\n";
  EXPECT_EQ(wrapped(declared + "  t = tile_insert(t, n, tile_extract(t, n))\n"),
            declared + "  t = tile_insert(t, wrap_index(n, 4), tile_extract(t, n))\n");
  const std::string never_negative = declared + "  t = tile_insert(t, i, 1.0)\n";
  EXPECT_EQ(wrapped(never_negative), never_negative);
}

TEST(WrapIndices, WrapsIndicesThatMayBeNegative) {
  EXPECT_EQ(wrapped("  x[n] = 1.0\n"), "  x[wrap_index(n, shape(x, 0))] = 1.0\n");
  EXPECT_EQ(wrapped("  x[i] = x[sub(i, 1)]\n"), "  x[i] = x[wrap_index(sub(i, 1), shape(x, 0))]\n");
  EXPECT_EQ(wrapped("  x[at[i]] = m[i, n]\n"),
            "  x[wrap_index(at[i], shape(x, 0))] = m[i, wrap_index(n, shape(m, 1))]\n");
  EXPECT_EQ(wrapped("  atomic_add(x[n], 1.0)\n"), "  atomic_add(x[wrap_index(n, shape(x, 0))], 1.0)\n");
}

TEST(WrapIndices, WrapsReassignedIndicesAndLoopIndicesThatStartBelowZero) {
  EXPECT_EQ(wrapped("  let j: i32 = 0\n  j = sub(j, 1)\n  x[j] = 1.0\n"),
            "  let j: i32 = 0\n  j = sub(j, 1)\n  x[wrap_index(j, shape(x, 0))] = 1.0\n");
  EXPECT_EQ(wrapped("  for j: i32 in range(-2, n, 1) {\n    x[j] = 1.0\n  }\n"),
            "  for j: i32 in range(-2, n, 1) {\n    x[wrap_index(j, shape(x, 0))] = 1.0\n  }\n");
}

TEST(WrapIndices, WrapsVectorIndexByComponentCount) {
  EXPECT_EQ(wrapped("  let v: vec<f32,3>\n  x[i] = extract(v, n)\n"),
            "  let v: vec<f32,3>\n  x[i] = extract(v, wrap_index(n, 3))\n");
}

TEST(WrapIndices, ReplacesNestedWrapIndexCallByOperandOrConditional) {
  EXPECT_EQ(wrapped("  x[add(2, wrap_index(i, 5))] = 1.0\n"), "  x[add(2, i)] = 1.0\n");
  EXPECT_EQ(wrapped("  x[i] = cast<f32>(add(2, wrap_index(n, 5)))\n"),
            "  x[i] = cast<f32>(add(2, where(lt(n, 0), add(n, 5), n)))\n");
}

}  // namespace
}  // namespace assay::ir
