// What the fake driver exports beside the driver's functions, for tests that have it in their own process.
#pragma once

extern "C" {

/// Forgets everything, and plans anew as $ASSAY_FAKE_GPU would; 0, or 1 when the text is no plan.
int assay_fake_gpu_reset(const char* plan);
/// The number of contexts, modules, streams, events and allocations that are alive.
int assay_fake_gpu_live();
}
