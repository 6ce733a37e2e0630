#!/bin/sh
# Compiles reduced.cu with NVRTC and compares the PTX with wrong.ptx: reproduce.sh [PATH/libnvrtc.so.13]
# Exit status: 0 the PTX is the incorrect one, 1 it is another one, which is then printed.
exec python3 - "$(dirname "$0")" "${1:-libnvrtc.so.13}" <<'END'
import ctypes
import pathlib
import sys

folder, library = pathlib.Path(sys.argv[1]), sys.argv[2]
options = [b"--std=c++17", b"--gpu-architecture=compute_100", b"--fmad=false", b"--ftz=false", b"--prec-div=true", b"--prec-sqrt=true"]
nvrtc = ctypes.CDLL(library)
program = ctypes.c_void_p()


def call(name, *arguments):
    status = getattr(nvrtc, name)(*arguments)
    if status != 0:
        sys.exit(f"{name} failed with status {status}")


call("nvrtcCreateProgram", ctypes.byref(program), (folder / "reduced.cu").read_bytes(), b"reduced.cu", 0, None, None)
call("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
call("nvrtcGetPTXSize", program, ctypes.byref(size))
text = ctypes.create_string_buffer(size.value)
call("nvrtcGetPTX", program, text)


def instructions(ptx):
    lines = (line.split("//")[0].strip() for line in ptx.splitlines())
    return [line for line in lines if line and not line.startswith(".version")]


ptx = text.value.decode()
if instructions(ptx) == instructions((folder / "wrong.ptx").read_text()):
    print("The compiler generates the incorrect PTX.")
else:
    print(ptx)
    sys.exit("The compiler generates another PTX.")
END
