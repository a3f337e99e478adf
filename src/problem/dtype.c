#include "config.h"

#include "problem/dtype.h"

#include <math.h>

static const struct {
	const char *name;
	int bits;
	bool is_float;
} dtype_rows[DTYPE_COUNT] = {
	[DTYPE_UNKNOWN] = { "?", 0, false },
#define DTYPE_ROW(id, name, bits, is_float) [DTYPE_##id] = { name, bits, is_float },
	DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};

const char *dtype_name(enum dtype t)
{
	return dtype_rows[t].name;
}

enum dtype dtype_parse(struct text name)
{
	for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++)
		if (text_is(name, dtype_rows[t].name))
			return (enum dtype)t;
	return DTYPE_UNKNOWN;
}

int dtype_bits(enum dtype t)
{
	return dtype_rows[t].bits;
}

bool dtype_is_float(enum dtype t)
{
	return dtype_rows[t].is_float;
}

bool dtype_is_asked(enum dtype t)
{
	return (dtype_is_float(t) && t != DTYPE_F8E8M0) || t == DTYPE_S8;
}

double dtype_bytes(enum dtype t, double count)
{
	return dtype_rows[t].bits ? ceil(count * dtype_rows[t].bits / 8) : NAN;
}
