// Additional exports of the fake driver, for tests that load it into their own process.
#pragma once

extern "C" {

/// Resets all state and applies the plan, in the format of $ASSAY_FAKE_GPU. Returns 0, or 1 if the plan is invalid.
int assay_fake_gpu_reset(const char* plan);
/// The number of contexts, modules, streams, events and allocations that are alive.
int assay_fake_gpu_live();
}
