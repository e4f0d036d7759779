// Compares what DeviceBfloats.cpp makes with exact arithmetic: the quotients of
// all pairs of bf16, and the roundings of all f32.
#include <cstdio>
#include <cuda_runtime.h>

struct Counts {
  unsigned long long byReciprocal, wrongQuotients, wrongRoundings;
};

__device__ unsigned narrow(float x) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(0.0f), "f"(x));
  return bits;
}

__device__ bool isSmall(float x) { return !(fabsf(x) >= 0x1p-126f); }

/// A block takes one dividend, or the numbers with its upper half.
__global__ void compare(Counts *counts) {
  unsigned byReciprocal = 0, wrongQuotients = 0, wrongRoundings = 0;
  float dividend = __uint_as_float(blockIdx.x << 16);
  for (unsigned low = threadIdx.x; low < 65536; low += blockDim.x) {
    float divisor = __uint_as_float(low << 16), reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(divisor));
    float quotient = dividend * reciprocal;
    bool isRisky = isSmall(divisor) || (isSmall(quotient) && dividend != 0);
    float exact = __fdiv_rn(dividend, divisor);
    byReciprocal += !isRisky;
    wrongQuotients += !isRisky && narrow(quotient) != narrow(exact);
    unsigned bits = blockIdx.x << 16 | low;
    unsigned rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    float number = __uint_as_float(bits);
    wrongRoundings += number == number && narrow(number) != rounded;
  }
  atomicAdd(&counts->byReciprocal, byReciprocal);
  atomicAdd(&counts->wrongQuotients, wrongQuotients);
  atomicAdd(&counts->wrongRoundings, wrongRoundings);
}

int main() {
  Counts *onDevice, counts = {};
  cudaMalloc(&onDevice, sizeof(counts));
  cudaMemset(onDevice, 0, sizeof(counts));
  compare<<<65536, 256>>>(onDevice);
  cudaMemcpy(&counts, onDevice, sizeof(counts), cudaMemcpyDeviceToHost);
  cudaError_t error = cudaGetLastError();
  std::printf("%s: %llu quotients by a reciprocal, %llu wrong; %llu numbers "
              "rounded wrong\n",
              cudaGetErrorString(error), counts.byReciprocal,
              counts.wrongQuotients, counts.wrongRoundings);
  return error != cudaSuccess || counts.wrongQuotients || counts.wrongRoundings;
}
