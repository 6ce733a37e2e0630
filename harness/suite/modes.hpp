// The numeric modes that a run judges. A mode is a component of its cases' names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/mode_name.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The values of --mode. strict: strict flags; case names omit this mode. default: the compiler's own flags. both:
/// these two. fast_compile: strict flags without optimization. sampled: all three, but mode_for_kernel() omits some
/// cases.
inline constexpr std::array<std::string_view, 5> kModeNames{"strict", "default", "both", "fast_compile", "sampled"};

/// The modes of a run on the device. `chosen` is one of kModeNames; empty: DeviceDescriptor::default_mode.
/// `optimization_level` is the -O level, which is part of the mode's name unless it is 0. A device without
/// DeviceDescriptor::supports_fast_compile has no mode fast_compile. A device that does not run Assay's code has one
/// mode.
std::vector<Mode> modes_of(std::string_view device, std::string_view chosen, int optimize);
/// As modes_of, but fails if the device has none of the chosen modes.
Result<std::vector<Mode>> supported_modes(std::string_view device, std::string_view chosen, int optimize);

/// The modes of a run that judges each kernel at several -O levels and in several builds: the modes of each level, each
/// in every build. The names of the builds end the names of the modes: "strict@g++-12", "default_O2@clang++-14". A
/// single build has no name. Fails if the device has none of the chosen modes.
Result<std::vector<Mode>> make_modes_for_builds(std::string_view device, std::string_view chosen,
                                                const std::vector<int>& levels, const std::vector<std::string>& builds);

/// The mode of the device with this name in case names; strict if there is none. The build in the name is ignored.
Mode mode_named(std::string_view device, std::string_view name);

/// The command-line option that selects only this mode; empty for the device's default mode.
std::string mode_option(std::string_view device, const Mode& mode);

/// The mode as a kernel of this family is built in it. Kernels of a user's file are built by the default compiler, like
/// the user's other code; generated and curated kernels by the fastest one, if the mode allows it.
Mode for_family(Mode mode, std::string_view family);

/// How many generated and curated kernels a run with --mode sampled judges in other modes than fast_compile, too.
enum class KernelSampleSize : std::uint8_t {
  kNone,      ///< no generated kernel: each is judged only in mode fast_compile
  kFraction,  ///< one generated kernel in kKernelsPerSampledKernel
  kAll,       ///< all kernels
};

/// One generated or curated kernel in this many is judged with an optimized build as well as with fast_compile. An
/// optimized build takes two to three times as long as one with fast_compile.
inline constexpr std::uint64_t kKernelsPerSampledKernel = 8;

/// The sample of an effort: "quick", "standard" or "thorough".
KernelSampleSize sample_of(std::string_view effort);

/// The mode as a run with these modes judges the kernel in it; nullopt if the run omits it for the kernel. A run omits
/// a mode only if fast_compile is one of several modes: a kernel of a user's file is judged in all other modes, and any
/// other kernel in fast_compile. With KernelSampleSize::kAll, kernels are judged in all modes, precisions and
/// architectures. Otherwise, kernels of a user's file are judged with f64 promotion only in mode strict and for the
/// first architecture. With KernelSampleSize::kFraction, a kernel of the sample is also judged in another mode than
/// fast_compile, in native precision: half of the sample in mode strict for the first architecture, the other half in
/// mode default for the last one.
std::optional<Mode> mode_for_kernel(const Mode& mode, const std::vector<Mode>& modes, std::string_view family,
                                    std::string_view kernel, KernelSampleSize sample);

/// The mode for a device that judges a kernel after another device of the same run. With f64 promotion, the first
/// device shows that the formulas of the kernel and its adjoint are right; so each further device judges it in native
/// precision only, except one kernel in kKernelsPerSampledKernel, kernels of a user's file, and all with
/// KernelSampleSize::kAll.
Mode mode_for_further_device(Mode mode, std::string_view family, std::string_view kernel, KernelSampleSize sample);

std::vector<std::string> names_of(const std::vector<Mode>& modes);

}  // namespace assay::harness
