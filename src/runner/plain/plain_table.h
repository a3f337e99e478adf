/* Functions of 8-bit values by lookup tables. */
#ifndef RUNNER_PLAIN_TABLE_H
#define RUNNER_PLAIN_TABLE_H

#include <stdint.h>

#include "problem/problem.h"

struct plain_table {
	uint8_t byte[256];   /* eltwise: the result for each byte of the source */
	uint32_t power[256]; /* softmax: exp(i - 255), in 2^-31 */
};

/* True if source and destination are 8-bit types and the function can be a table. */
bool plain_by_table(const struct problem *p);
void plain_table_make(const struct problem *p, struct plain_table *t);

#endif
