#include "harness/suite/measuring.hpp"

#include <algorithm>
#include <utility>

#include "backends/device/registry.hpp"

namespace assay::harness {

Result<std::unique_ptr<MeasurementHook>> MeasurementHook::make(const SuiteOptions& options, backends::Device& device) {
  auto measuring = std::make_unique<MeasurementHook>();
  if (!options.measure_options || !device.can_run().is_available) return measuring;
  // The observer only counts: the checks ran when the kernel was judged.
  const auto row = std::ranges::find_if(backends::devices(), &backends::DeviceDescriptor::reports_profiles);
  auto made = backends::make_device(row->name, {.disabled_checks = backends::check_names()});
  if (!made.ok()) return made.error();
  measuring->operation_counting_device_ = made.take();
  backends::Device* const observer = measuring->operation_counting_device_->can_run().is_available
                                         ? measuring->operation_counting_device_.get()
                                         : nullptr;
  auto measurer = Measurer::make(device, observer, *options.measure_options);
  if (!measurer.ok()) return measurer.error();
  measuring->measurer_ = measurer.take();
  return measuring;
}

void MeasurementHook::bind(std::vector<KernelGroup>& groups) {
  if (!measurer_) return;
  for (KernelGroup& group : groups) {
    group.options.measure = [this, forward = group.options.forward, backward = group.options.backward](
                                const KernelUnderTest& subject, const backends::BuiltKernel& kernel) {
      return measurer_->measure(subject, kernel, forward, backward);
    };
  }
}

}  // namespace assay::harness
