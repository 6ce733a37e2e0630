#include "ir/transforms/merged_parameters.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::transforms {
namespace {

TEST(MergedParameters, UsesOfTheRemovedParameterReferToTheKeptParameter) {
  auto parsed = ir::parse_text(R"(kernel k(x: array<f32,1>, h: f32, y: array<f32,1>, z: array<f32,1>; i) {
  let t: f32 = mul(x[i], h)
  for j: i32 in range(0, shape(y, 0), 1) {
    t = add(t, y[j])
  }
  z[i] = t
  let old: f32 = atomic_add(y[i], t)
}
)");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  ir::Module module = parsed.take();
  module.kernels[0].annotations = {"domain: len(y) <= len(x)", "launch: (y.shape[0])", "domain: y1 > my"};
  module.kernels[0] = merge_parameters(module.kernels[0], std::vector<ir::VarId>{0, 1, 0, 3});
  EXPECT_TRUE(ir::verify(module).empty());
  EXPECT_EQ(module.kernels[0].annotations,
            (std::vector<std::string>{"domain: len(x) <= len(x)", "launch: (x.shape[0])", "domain: y1 > my"}));
  module.kernels[0].annotations.clear();
  EXPECT_EQ(ir::to_text(module), R"(kernel k(x: array<f32,1>, h: f32, z: array<f32,1>; i) {
  let t: f32 = mul(x[i], h)
  for j: i32 in range(0, shape(x, 0), 1) {
    t = add(t, x[j])
  }
  z[i] = t
  let old: f32 = atomic_add(x[i], t)
}
)");
}

}  // namespace
}  // namespace assay::transforms
