#include "config.h"

#include "analyze/peaks.h"

#include <math.h>

struct peaks peaks_unknown(void)
{
	struct peaks p = { .bandwidth_bytes_s = NAN, .cache_bytes = NAN, .cache_bandwidth_bytes_s = NAN };
	for (int i = 0; i < DTYPE_COUNT; i++)
		p.flops[i] = p.matrix_flops[i] = NAN;
	return p;
}

int peaks_set(struct peaks *p, struct text dtype, bool matrix, double flops)
{
	double *to = matrix ? p->matrix_flops : p->flops;
	enum dtype type = dtype_parse(dtype);
	if (!(flops > 0) || !isfinite(flops))
		return -1;
	if (text_is(dtype, "f8"))
		to[DTYPE_F8E4M3] = to[DTYPE_F8E5M2] = flops;
	else if (type == DTYPE_UNKNOWN)
		return -1;
	else
		to[type] = flops;
	if (type == DTYPE_S8) /* the same units, with and without a sign */
		to[DTYPE_U8] = flops;
	return 0;
}

bool peaks_have_matrix(const struct peaks *p)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!isnan(p->matrix_flops[i]))
			return true;
	return false;
}

bool peaks_known(const struct peaks *p)
{
	return !isnan(p->bandwidth_bytes_s);
}
