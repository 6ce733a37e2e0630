// Makes a kernel as small as it can be while it still shows something. Start reading here.
//
//     Result<Reduction> reduced = reduce(module, [&](std::span<const ir::Module> candidates) {
//       return ...;                                      // which of them still fail in the same way
//     }, {.time = std::chrono::seconds(60)});
//
// Delta debugging (Zeller and Hildebrandt, 2002) over the steps of step.hpp: each step is tried at all of its places at
// once, then at halves of them and so on, and what still shows it is kept; steps are repeated until none helps. A
// candidate is always a valid program and always smaller (size.hpp). Nothing here knows of devices: what is to be shown
// is the judge's. The same judgements lead to the same result, but for where the time ends.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/reduce/size.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// Says of each candidate whether it still shows what is being reduced. Candidates are valid, have one kernel, and come
/// several at a time so that they can be built together and judged side by side. What shows it among others counts once
/// it shows it by itself too: a source that lacks something may get that from its neighbours.
using Judge = std::function<std::vector<bool>(std::span<const ir::Module>)>;

struct Budget {
  std::chrono::milliseconds time{60'000};  ///< of the clock; what is being judged at its end is waited for
  std::int64_t trials = 10'000;            ///< candidates to judge
};

/// Where a reduction stands, each time when the kernel has become smaller.
struct Stand {
  std::string_view step;
  Size size;
  std::int64_t trials = 0;
};
using Report = std::function<void(const Stand&)>;

struct Reduction {
  ir::Module module;
  Size before;
  Size after;
  std::int64_t trials = 0;
  std::chrono::milliseconds time{};
  bool finished = false;  ///< no step helps any more; false where the budget ended it
};

/// A module with this kernel alone, and what it uses; without the source's text, of which nothing remains.
ir::Module alone(const ir::Module& module, std::size_t kernel);

/// Reduces the only kernel of a valid module. Fails if the judge does not find in the module itself what is to be
/// shown.
Result<Reduction> reduce(const ir::Module& module, const Judge& judge, Budget budget = {},
                         const Report& report = nullptr);

}  // namespace assay::reduce
