//===- Matmul.h - A matmul that a library could run -------------*- C++ -*-===//
//
// Lowered code's description of a kernel that is a matmul and nothing else, so
// that a library can run it in the kernel's place. The compiler writes it as a
// list of 64-bit numbers, the runtime library reads it as this structure.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CUDA_MATMUL_H
#define CKPT_CUDA_MATMUL_H

#include <cstdint>

namespace ckpt::cuda {

/// Elements, by the numbers of cudaDataType.
constexpr int64_t float32 = 0, float16 = 2, bfloat16 = 14;

/// One matrix per batch, of rows x columns, in an argument of the kernel. Heads
/// of tokens of sequences have two strides between batches, hence groups.
struct MatmulOperand {
  /// Number among the kernel's arguments, and the bytes of all of it.
  int64_t argument, argumentBytes;
  /// Offset of the first element, in bytes.
  int64_t offset;
  int64_t elementType;
  /// Elements of a row are neighbours, or if transposed, elements of a column.
  int64_t isTransposed;
  /// Elements from one row (column) to the next, from one matrix to the next,
  /// and from one group of matrices to the next.
  int64_t leadingDimension, batchStride, groupStride;
};

/// out = left * right: (rows x steps) * (steps x columns), for each batch of
/// each group. Sums are in f32 and begin at zero; `out` is not transposed.
struct MatmulShape {
  int64_t rows, columns, steps, batches, groups;
  MatmulOperand left, right, out;
};

constexpr int64_t matmulShapeWords = sizeof(MatmulShape) / sizeof(int64_t);

extern "C" {
/// Says that the next launch computes \p shape.
void ckptCudaOfferMatmul(const MatmulShape *shape);
}

} // namespace ckpt::cuda

#endif // CKPT_CUDA_MATMUL_H
