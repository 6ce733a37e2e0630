// Finds inputs close to where a kernel goes another way. A threshold that is off by a little shows nowhere else.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/judge/inputs/input_space.hpp"
#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// Two launches of one thread, close to each other, between which one choice of the kernel (reference::Choice) turns.
struct Straddle {
  ir::Launch before, behind;
};

/// How close the launches are: floats, on the line between two inputs of the domain, to 2^-18, 2^-14 and 2^-10 of its
/// length; integers to the next one.
inline constexpr int kCloseness[] = {18, 14, 10};

/// Where a line between two inputs crosses a threshold: straddles as close as each of kCloseness, the closest first.
using Crossing = std::vector<Straddle>;

/// At most so many crossings, one or two of each choice, by bisection between drawn inputs. First the floats alone are
/// moved, then the integers. Choices that no two of the drawn inputs take differently have none.
std::vector<Crossing> find_crossings(const ir::Module& module, const reference::Oracle& oracle, InputSpace& space,
                                     std::uint64_t seed, int most);

}  // namespace assay::harness
