/* What a device can do at most: memory bandwidth and operations a second by data type, with and without matrix units. From
 * its vendor's figures (a described device) or from measurements. */
#ifndef ANALYZE_PEAKS_H
#define ANALYZE_PEAKS_H

#include "base/error.h"
#include "base/str.h"
#include "problem/dtype.h"

struct peaks {
	double bandwidth_bytes_s;                /* of device memory; NaN unknown */
	double flops[DTYPE_COUNT];               /* on plain units, a multiply-add counting 2; NaN unknown */
	double matrix_flops[DTYPE_COUNT];        /* on matrix units (tf32: f32 operands rounded to it); NaN unknown */
};

struct peaks peaks_unknown(void); /* all NaN */
/* By the type's name; "f8" sets both 8-bit floats. -1: no such type, or not a number above 0. */
int peaks_set(struct peaks *p, struct text dtype, bool matrix, double flops);

#endif
