// Compares OracleRun::reports_only_accessed_elements, on a few threads of a large launch, with runs that report all
// elements.
#include <cmath>

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using testing::OracleFixture;

constexpr int kCount = 5'000;

class EvaluationOfAccessedElements : public ::testing::Test {
 protected:
  EvaluationOfAccessedElements() {
    std::vector<double> values;
    for (int k = 0; k < kCount; ++k)
      values.push_back(std::sin(k) + 2);
    x_ = workbench_.floats("x", values);
    out_ = workbench_.zeros("out", ir::kF64, {kCount});
    const ir::VarId i = workbench_.thread_index(kCount);
    // out[i] = x[i] * x[0]
    const ir::ExprId first = workbench_.b().load(x_, {workbench_.b().i32(0)});
    workbench_.b().store(out_, {workbench_.var(i)}, workbench_.op(Op::kMul, {workbench_.at(x_, i), first}));
  }

  ReferenceResult evaluate(bool reports_only_accessed_elements) {
    ComponentValues seeds(2);
    seeds[1].resize(kCount);
    for (const std::int64_t thread : kThreads)
      seeds[1][static_cast<std::size_t>(thread)] = static_cast<double>(thread + 1);
    const Oracle oracle = workbench_.oracle();
    return oracle.evaluate({.launch = workbench_.launch(),
                            .computes_gradient = true,
                            .cotangents = seeds,
                            .thread_order = kThreads,
                            .reports_only_accessed_elements = reports_only_accessed_elements});
  }

  const std::vector<std::int64_t> kThreads{0, 17, 2'500, 4'999};
  OracleFixture workbench_;
  ir::VarId x_ = ir::kNone;
  ir::VarId out_ = ir::kNone;
};

TEST_F(EvaluationOfAccessedElements, OutputsMatchWrittenElementsOfFullRun) {
  const ReferenceResult whole = evaluate(false);
  const ReferenceResult part = evaluate(true);
  const OutputArray& all = *whole.outputs[1];
  const OutputArray& few = *part.outputs[1];
  EXPECT_EQ(all.elements.size(), std::size_t{kCount});
  EXPECT_EQ(few.element_indices, (std::vector<std::size_t>{0, 17, 2'500, 4'999}));
  ASSERT_EQ(few.elements.size(), few.element_indices.size());
  for (std::size_t k = 0; k < few.element_indices.size(); ++k) {
    EXPECT_EQ(few.elements[k].value, all.elements[few.element_indices[k]].value);
    EXPECT_EQ(few.elements[k].bound, all.elements[few.element_indices[k]].bound);
    EXPECT_TRUE(few.elements[k].is_written);
  }
}

TEST_F(EvaluationOfAccessedElements, GradientsMatchFullRunAndAreZeroElsewhere) {
  const ReferenceResult whole = evaluate(false);
  const ReferenceResult part = evaluate(true);
  const GradientArray& all = *whole.gradients[0];
  const GradientArray& few = *part.gradients[0];
  for (std::size_t cell = 0; cell < std::size_t{kCount}; ++cell) {
    const auto position = few.position(cell);
    EXPECT_EQ(all.position(cell), cell);
    if (!position) {
      ASSERT_EQ(all.elements[cell].magnitude_sum, 0) << cell;
      continue;
    }
    ASSERT_EQ(few.elements[*position].value, all.elements[cell].value) << cell;
    ASSERT_EQ(few.elements[*position].bound, all.elements[cell].bound) << cell;
    ASSERT_EQ(few.elements[*position].contribution_count, all.elements[cell].contribution_count) << cell;
  }
  EXPECT_TRUE(few.position(0) && few.position(17));
  EXPECT_FALSE(few.position(1));
}

}  // namespace
}  // namespace assay::reference
