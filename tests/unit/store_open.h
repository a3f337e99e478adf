/* What the tests of databases share: two problems, and a new database in the scratch directory. */
#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include "store/store.h"
#include "store_help.h"

#define RELU "eltwise:f32,f32:relu:1x64x56x56"
#define TANH "eltwise:f32,f32:tanh:1x64x56x56"

static struct error err;

static struct store *open_new(const char *name)
{
	unlink(scratch_path(name));
	err.text[0] = '\0';
	struct store *s = store_open(scratch_path(name), false, &err);
	if (!ok(s != NULL, "%s opens", name))
		printf("# %s\n", err.text);
	return s;
}

#endif
