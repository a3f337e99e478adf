/* Our kernels that make u8 sources s8, in plain C on host memory. */
#include "config.h"

#include "fake_shift.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_standin.h"
#include "runner/kernels/cuda_kernels.h"

int fake_shift_sums;

cudaError_t cuda_shift(const struct cuda_shift *c, const void *from, void *to, cudaStream_t s)
{
	const unsigned char *source = from;
	signed char *next = to;
	if (s != STANDIN_STREAM)
		return cudaErrorInvalidValue;
	for (int64_t n = 0; n < c->n; n++)
		for (int64_t z = -c->before[0]; z < c->size[0] + c->after[0]; z++)
			for (int64_t y = -c->before[1]; y < c->size[1] + c->after[1]; y++)
				for (int64_t x = -c->before[2]; x < c->size[2] + c->after[2]; x++) {
					bool inside = z >= 0 && z < c->size[0] && y >= 0 && y < c->size[1] &&
						x >= 0 && x < c->size[2];
					*next++ = (signed char)((inside ? *source++ : 0) - 128);
				}
	return cudaSuccess;
}

cudaError_t cuda_shift_sum(const struct cuda_shift_sum *c, const void *weights, const float *scale,
	const float *bias, void *to, cudaStream_t s)
{
	const signed char *w = weights;
	(void)s;
	fake_shift_sums++;
	for (int64_t i = 0; i < c->channels; i++) {
		int sum = 0;
		for (int64_t j = 0; j < c->terms; j++)
			sum += w[i * c->channel_stride + j * c->term_stride];
		if (c->whole)
			((int32_t *)to)[i] = sum * 128;
		else
			((float *)to)[i] = (bias ? bias[i] : 0) + (float)sum * 128 * scale[i];
	}
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **to, size_t bytes)
{
	*to = malloc(bytes);
	memset(*to, 0x7f, bytes); /* what was there before, a large number */
	return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t size, cudaStream_t stream)
{
	(void)stream;
	memset(to, byte, size);
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	free(p);
	return cudaSuccess;
}
