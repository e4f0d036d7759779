// Compares lib/Cuda/MatmulLibrary.h with the headers of CUDA, as cuda-abi.cpp
// does for the driver.

#include "Cuda/MatmulLibrary.h"
#include "SameDeclaration.h"
#include <cublasLt.h>

using namespace ckpt::cuda;

#define CKPT_LIBRARY_FUNCTION(name, symbol, parameters)                        \
  static_assert(areSame(&symbol, decltype(MatmulLibrary::name)()), #symbol);
#include "Cuda/MatmulLibraryFunctions.def"

static_assert(std::is_same_v<decltype(&cublasLtGetStatusName),
                             const char *(*)(cublasStatus_t)>);
static_assert(sizeof(MatmulAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
using Theirs = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(MatmulProposal) == sizeof(Theirs));
static_assert(offsetof(MatmulProposal, workspaceBytes) ==
              offsetof(Theirs, workspaceSize));
static_assert(offsetof(MatmulProposal, status) == offsetof(Theirs, state));

static_assert(float32 == CUDA_R_32F);
static_assert(float16 == CUDA_R_16F);
static_assert(bfloat16 == CUDA_R_16BF);
static_assert(librarySuccess == CUBLAS_STATUS_SUCCESS);
static_assert(libraryNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(computeFloat32 == CUBLAS_COMPUTE_32F);
static_assert(asItIs == CUBLAS_OP_N && transposed == CUBLAS_OP_T);
static_assert(transposeA == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(transposeB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(batchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(batchStrideElements ==
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(mostWorkspaceBytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(reductionSchemes == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(alignmentsOfOperands[0] ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(alignmentsOfOperands[1] ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(alignmentsOfOperands[2] ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(alignmentsOfOperands[3] ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
