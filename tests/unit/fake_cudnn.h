/* A fake of cuDNN's legacy API on host memory: computes what its descriptors say, slowly. */
#ifndef FAKE_CUDNN_H
#define FAKE_CUDNN_H

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

/* A descriptor of any kind; members that its kind does not have are zero. */
struct fake_desc {
	int kind;                       /* FAKE_TENSOR ... */
	cudnnDataType_t type, compute;
	int rank, dim[8], stride[8];    /* dim: of pooling the window */
	int pad[8];
	int mode, math, groups;
	double a, b, k;
};
enum {
	FAKE_TENSOR = 1,
	FAKE_POOLING,
	FAKE_LRN,
	FAKE_REDUCE,
	FAKE_DROPOUT,
	FAKE_RNN,
	FAKE_RNN_DATA
};

extern struct fake_cudnn {
	int created, destroyed, handles, calls;
	cudaStream_t stream;    /* of the handle */
	int creating;           /* calls of cudnnCreate that have not returned */
	bool created_at_once;   /* two of them */
	const char *function;   /* last function that computed */
	int algorithm, math;    /* of the last rnn */
	int rank, dim[8];       /* of the last destination */
	bool other_weights;     /* an rnn has its biases at another offset */
	bool no_memory;
	cudnnStatus_t forward_status; /* of the next forward LRN; 0: success */
	int64_t allocated;      /* device memory not yet freed */
} fake_cudnn;

double fake_load(const void *base, cudnnDataType_t type, int64_t at);
void fake_store(void *base, cudnnDataType_t type, int64_t at, double value);
/* Reads an alpha or beta for tensors of a type. */
double fake_scalar(const void *p, cudnnDataType_t type);
int64_t fake_volume(const struct fake_desc *d);
/* Convert element i, row-major in d's dimensions, to coordinates; and coordinates to an offset in t, whose
 * sizes of 1 broadcast. */
void fake_at(const struct fake_desc *d, int64_t i, int *at);
int64_t fake_place(const struct fake_desc *t, const int *at);
const struct fake_desc *fake_is(const void *d, int kind);
/* Records a computation that wrote to y. */
void fake_done(const char *function, const struct fake_desc *y);

#endif
