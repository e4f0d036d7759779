// Compares lib/Cuda/Driver.h with the headers of CUDA.

#include "Cuda/Driver.h"
#include "SameDeclaration.h"
#include <cuda.h>

using namespace ckpt::cuda;

#define CKPT_DRIVER_FUNCTION(name, symbol, parameters)                         \
  static_assert(areSame(&symbol, decltype(Driver::name)()), #symbol);
#include "Cuda/DriverFunctions.def"

static_assert(success == CUDA_SUCCESS);
static_assert(outOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(computeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(computeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(largestDynamicSharedBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(errorLog == CU_JIT_ERROR_LOG_BUFFER);
static_assert(errorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(optimizationLevel == CU_JIT_OPTIMIZATION_LEVEL);
static_assert(captureThisThread == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(streamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(recordInGraph == CU_EVENT_RECORD_EXTERNAL);
static_assert(sizeof(EncodedTensorMap) == sizeof(CUtensorMap));
static_assert(alignof(EncodedTensorMap) >= alignof(CUtensorMap));
static_assert(elementOf16Bits == CU_TENSOR_MAP_DATA_TYPE_UINT16);
static_assert(notInterleaved == CU_TENSOR_MAP_INTERLEAVE_NONE);
static_assert(swizzleOf128Bytes == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(fetchOf128Bytes == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(fillWithZeros == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
