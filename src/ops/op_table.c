/* The operator table: all groups of rows, and the search by name. */
#include "config.h"

#include "ops/op.h"

#include "base/hash.h"
#include "ops/rules/op_rules.h"

#include <assert.h>

#define OP_GROUP_AT(name) &op_##name##_rows,
static const struct op_rows *const groups[] = { OP_GROUPS(OP_GROUP_AT) };
#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

size_t op_row_count(void)
{
	size_t count = 0;
	for (size_t i = 0; i < GROUP_COUNT; i++)
		count += groups[i]->count;
	return count;
}

const struct op *op_row(size_t i)
{
	size_t group = 0;
	while (i >= groups[group]->count)
		i -= groups[group++]->count;
	return &groups[group]->at[i];
}

bool op_row_any_kind(const struct op *op)
{
	for (size_t i = 0; i < GROUP_COUNT; i++) {
		if (groups[i]->any_kind && op >= groups[i]->at && op < groups[i]->at + groups[i]->count)
			return true;
	}
	return false;
}

/* Open addressing over names; the rows of one operator have a slot each. */
#define SLOTS 2048
static const struct op *slots[SLOTS]; /* NULL = empty */
static bool slots_filled;

static size_t slot_of(struct text name)
{
	return (size_t)hash_bytes(name.p, name.n) % SLOTS;
}

static bool row_is(const struct op *row, struct text domain, struct text name)
{
	return text_is(name, row->name) && text_is(domain, row->domain);
}

static bool row_holds(const struct op *row, int64_t opset)
{
	return opset >= row->since && (row->until == 0 || opset <= row->until);
}

static void slots_fill(void)
{
	size_t count = op_row_count();
	assert(count < SLOTS / 2);
	for (size_t i = 0; i < count; i++) {
		size_t slot = slot_of(text_of(op_row(i)->name));
		while (slots[slot])
			slot = (slot + 1) % SLOTS;
		slots[slot] = op_row(i);
	}
	slots_filled = true;
}

const struct op *op_find(struct text domain, struct text name, int64_t opset)
{
	if (!slots_filled)
		slots_fill();
	for (size_t slot = slot_of(name); slots[slot]; slot = (slot + 1) % SLOTS) {
		if (row_is(slots[slot], domain, name) && row_holds(slots[slot], opset))
			return slots[slot];
	}
	return NULL;
}

bool op_exists(struct text domain, struct text name, int64_t opset)
{
	return op_find(domain, name, opset) != NULL;
}
