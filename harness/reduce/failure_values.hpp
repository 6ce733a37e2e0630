// The values of a failed launch, as JSON for other programs.
#pragma once

#include <string>

#include "harness/judge/counterexample.hpp"
#include "ir/module.hpp"

namespace assay::reduce {

/// Maximum number of scalars written per array; omitted scalars are counted.
inline constexpr std::size_t kMaxValuesPerArray = 10'000;

/// {"input_set", "lane", "threads", "given": [{"name", "type", "shape", "values"}],
///  "compared": {"array", "differing", "actual", "expected", "bound"}}, floats as hexadecimal text ("0x1.8p+0"),
/// integers as numbers; "differing" counts scalars in row-major order from 0. `module` is the kernel's module in the
/// precision variant ("lane") of the counterexample.
std::string values_json(const ir::Module& module, const harness::Counterexample& counterexample);

}  // namespace assay::reduce
