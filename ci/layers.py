"""The layers of the sources and what each may include; checked by ci/check_layers.

A layer is a folder; a file belongs to the layer with the longest matching name. "all" stands for every layer. A folder
named testing (or models, in backends/ptx) and the files *_test.* and *_fuzz.* belong to the tests of their layer.
"""

ALLOWED = {
    "backends": (
        "backends/cpu", "backends/cross_check", "backends/cuda", "backends/cuda/cupti", "backends/cuda/driver",
        "backends/cuda/nvrtc", "backends/device", "backends/ptx", "backends/warp", "support"),
    "backends/cpu": ("backends/device", "backends/worker", "support"),
    "backends/cross_check": ("backends/device", "support"),
    "backends/cuda": (
        "backends/cuda/cupti", "backends/cuda/driver", "backends/cuda/nvrtc", "backends/device", "backends/worker",
        "support"),
    "backends/cuda/cupti": ("backends/cuda/driver", "backends/device", "support"),
    "backends/cuda/driver": ("backends/device", "support"),
    "backends/cuda/fake_driver": (
        "backends/cuda/cupti", "backends/cuda/driver", "backends/ptx/execute", "backends/ptx/parse", "support"),
    "backends/cuda/nvrtc": ("backends/device", "support"),
    "backends/device": ("support",),
    "backends/ptx": (
        "backends/cuda/nvrtc", "backends/device", "backends/ptx/checks", "backends/ptx/execute", "backends/ptx/parse",
        "support"),
    "backends/ptx/checks": ("backends/ptx/instructions", "backends/ptx/parse"),
    "backends/ptx/execute": (
        "backends/ptx/checks", "backends/ptx/instructions", "backends/ptx/instructions/lanes", "backends/ptx/parse",
        "backends/ptx/profile", "support"),
    "backends/ptx/instructions": ("backends/ptx/parse", "support"),
    "backends/ptx/instructions/lanes": ("backends/ptx/instructions", "backends/ptx/parse"),
    "backends/ptx/lower": ("backends/ptx/instructions", "backends/ptx/instructions/lanes"),
    "backends/ptx/parse": ("support",),
    "backends/ptx/profile": ("backends/ptx/instructions", "backends/ptx/parse"),
    "backends/source": ("backends/device", "backends/source/warp", "ir", "ir/operations", "support"),
    "backends/source/targets": (
        "backends/cuda/nvrtc", "backends/source", "backends/source/warp", "ir", "ir/transforms", "support"),
    "backends/source/warp": ("backends/device", "ir", "ir/spelling", "support"),
    "backends/warp": ("backends/cpu", "backends/device", "backends/ptx", "backends/worker", "support"),
    "backends/worker": ("backends/device", "support"),
    "bench": "all",
    "cli": "all",
    "conformance": (),
    "frontend": ("frontend/interface", "frontend/text", "frontend/warp/parse", "frontend/warp/syntax", "ir"),
    "frontend/interface": ("ir", "support"),
    "frontend/text": ("frontend/interface", "ir", "support"),
    "frontend/warp": (),  # only frontend/warp/testing
    "frontend/warp/parse": (
        "frontend/interface", "frontend/warp/syntax", "ir", "ir/operations", "ir/spelling", "ir/types", "support"),
    "frontend/warp/syntax": ("ir", "support"),
    "generators": ("ir", "ir/operations", "support"),
    "harness": (),  # only harness/testing, shared by the tests of the folders below
    "harness/attacks": (
        "backends/device", "frontend/warp/parse", "harness/records", "harness/suite/run", "support", "support/version"),
    "harness/benchmark": (
        "backends/cpu", "backends/cuda/nvrtc", "backends/device", "backends/ptx", "harness/records", "harness/suite",
        "harness/suite/run", "support"),
    "harness/calibrate": (
        "backends/device", "backends/ptx/execute", "harness/suite/run", "ir", "ir/operations", "reference/cpu",
        "support"),
    "harness/causes": ("ir",),
    "harness/dataset": (
        "backends/device", "backends/source/warp", "generators", "harness/records", "harness/suite",
        "harness/suite/run", "harness/suite/select", "ir", "ir/transforms", "schemas", "support", "support/version"),
    "harness/judge": (
        "backends/device", "harness/judge/compare", "harness/judge/inputs", "harness/records", "ir", "ir/transforms",
        "ir/types", "reference/cpu", "support"),
    "harness/judge/compare": ("harness/records", "support"),
    "harness/judge/inputs": ("ir", "reference/cpu", "support"),
    "harness/live": ("backends/cpu", "backends/worker", "support"),
    "harness/measure": ("backends/device", "harness/judge", "support"),
    "harness/mutation": (
        "backends/cpu", "backends/cuda/nvrtc", "backends/device", "backends/ptx", "harness/judge",
        "harness/judge/inputs", "harness/records", "harness/suite", "harness/suite/run", "harness/suite/select", "ir",
        "ir/transforms", "schemas", "support", "support/version"),
    "harness/records": ("backends/device", "schemas", "support"),
    "harness/reduce": (
        "backends/device", "backends/source/warp", "harness/judge", "harness/judge/inputs", "harness/records",
        "harness/suite", "harness/suite/run", "harness/suite/select", "ir", "support"),
    "harness/suite": (
        "backends/device", "backends/source", "harness/measure", "harness/records", "harness/suite/launches",
        "harness/suite/run", "harness/suite/select", "ir/transforms", "support", "support/version"),
    "harness/suite/launches": (
        "harness/judge", "harness/suite/select", "ir", "schemas", "support"),
    "harness/suite/run": (
        "backends/device", "harness/causes", "harness/judge", "harness/measure", "harness/records", "ir", "support"),
    "harness/suite/select": (
        "backends/source/warp", "conformance", "frontend/interface", "generators", "harness/judge/inputs",
        "harness/records", "harness/suite/run", "ir", "support"),
    "harness/warp_differences": (
        "backends/cpu", "backends/device", "backends/warp", "conformance", "generators", "harness/causes",
        "harness/judge", "harness/judge/compare", "harness/judge/inputs", "harness/suite/run", "harness/suite/select",
        "ir", "ir/operations", "ir/spelling", "ir/types", "reference/cpu", "support"),
    "ir": ("ir/operations", "ir/types", "support"),
    "ir/document": ("ir", "ir/operations"),
    "ir/operations": ("ir/types", "support"),
    "ir/spelling": ("ir", "support"),
    "ir/transforms": ("ir", "support"),
    "ir/types": (),
    "reference/cpu": ("ir", "ir/operations", "support"),
    "reports": ("backends/device", "reports/formats", "reports/formats/html", "reports/model", "schemas", "support"),
    "reports/formats": ("reports/model", "schemas", "support"),
    "reports/formats/html": ("reports/formats", "reports/model", "support"),
    "reports/model": ("backends/device", "harness/records", "schemas", "support"),
    "schemas": ("support",),
    "support": (),
    "support/version": (),
}

# Additional includes allowed in the tests of a layer, mostly the implementations that they are compared with.
ALLOWED_IN_TESTS = {
    "backends/cuda/cupti": ("backends/worker",),
    "backends/ptx": ("backends/ptx/instructions", "backends/source", "frontend/warp/parse", "ir/transforms"),
    "backends/ptx/checks": ("backends/ptx",),
    "backends/ptx/execute": ("backends/ptx",),
    "backends/ptx/parse": ("backends/ptx", "backends/ptx/instructions"),
    "backends/source": ("backends/cuda/nvrtc",),
    "backends/source/warp": ("frontend/warp/parse", "generators"),
    "conformance": ("backends/source/warp", "frontend/warp/parse", "generators", "ir"),
    "frontend/warp": ("backends/source/warp", "frontend/warp/parse", "frontend/warp/syntax", "ir", "support"),
    "frontend/warp/syntax": ("frontend/warp",),
    "generators": ("reference/cpu",),
    "harness": (
        "backends/cpu", "backends/device", "backends/source", "frontend/warp/parse", "harness/attacks",
        "harness/suite/run"),
    "harness/attacks": ("backends/cpu", "backends/source"),
    "harness/calibrate": ("backends/source", "harness"),
    "harness/dataset": ("backends/source",),
    "harness/judge": ("harness",),
    "harness/judge/inputs": ("harness",),
    "harness/measure": ("harness", "harness/suite/run"),
    "harness/mutation": ("harness",),
    "harness/reduce": ("backends/cpu", "backends/source", "generators", "harness"),
    "harness/suite": (
        "backends/cpu", "backends/cuda/nvrtc", "frontend/warp/parse", "generators", "harness/calibrate",
        "harness/judge", "ir"),
    "harness/suite/run": ("harness",),
    "harness/suite/select": ("ir/operations", "ir/transforms"),
    "harness/warp_differences": ("frontend/warp/parse",),
    "ir/transforms": ("frontend/warp/parse", "generators", "reference/cpu"),
    "reports/formats": ("reports", "reports/formats/html"),
    "reports/model": ("reports", "reports/formats"),
}
