# assay_cuda_headers: include path of nvrtc.h, cuda.h and, where the toolkit has it, cupti.h. The target is
# absent without a toolkit. The libraries themselves are never linked: they are loaded at run time.

find_path(ASSAY_CUDA_INCLUDE_DIR NAMES nvrtc.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda /usr/lib/cuda /opt/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include
  DOC "Folder of nvrtc.h and cuda.h; optional")
mark_as_advanced(ASSAY_CUDA_INCLUDE_DIR)

if(ASSAY_CUDA_INCLUDE_DIR AND EXISTS "${ASSAY_CUDA_INCLUDE_DIR}/cuda.h")
  add_library(assay_cuda_headers INTERFACE)
  target_include_directories(assay_cuda_headers SYSTEM INTERFACE "${ASSAY_CUDA_INCLUDE_DIR}")
  if(EXISTS "${ASSAY_CUDA_INCLUDE_DIR}/cupti.h")
    target_compile_definitions(assay_cuda_headers INTERFACE ASSAY_HAVE_CUPTI_HEADER=1)
  endif()
  message(STATUS "CUDA headers: ${ASSAY_CUDA_INCLUDE_DIR}")
else()
  message(STATUS "CUDA headers: none; the CUDA devices will report themselves unsupported")
endif()
