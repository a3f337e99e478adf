/* The versions of the format and of each domain. A file that imports no ai.onnx gets the newest opset of
 * the time of its format. */
#include "config.h"

#include "model/load.h"

#include <inttypes.h>
#include <stdlib.h>

/* The newest versions of the format and of ai.onnx when this was written. */
#define KNOWN_IR 14
#define KNOWN_OPSET 28
#define OPSETS_MOST 1000

/* For each version of the format, the newest opset released with it: the assumption for a file that imports
 * none. Versions before 3 had no imports. */
static const int newest_opset[KNOWN_IR + 1] = { 1, 1, 1, 8, 9, 10, 11, 14, 18, 20, 22, 23, 24, 27, 28 };

int64_t load_ir_of_opset(int64_t opset)
{
	int64_t ir = 4;
	while (ir < KNOWN_IR && newest_opset[ir] < opset)
		ir++;
	return ir;
}

static struct opset *opset_find(const struct opset_list *list, struct text domain)
{
	int64_t at = hash_find(&list->domains, domain);
	return at < 0 ? NULL : &list->items[at];
}

static void opset_add(struct opset_list *list, struct text domain, int64_t version)
{
	VEC_GROW(list->items, list->count, list->capacity);
	*hash_at(&list->domains, domain) = list->count;
	list->items[list->count++] = (struct opset){ domain, version };
}

static void opset_import(struct loader *l, struct opset_list *list, const Onnx__OperatorSetIdProto *p)
{
	struct text domain = load_domain(p->domain);
	if (p->version < 1) {
		load_warn(l, "operator set \"%s\" has version %" PRId64 ", ignored", load_shown(l, domain),
			p->version);
		return;
	}
	struct opset *known = opset_find(list, domain);
	if (!known) {
		opset_add(list, domain, p->version);
		return;
	}
	if (known->version != p->version)
		load_warn(l, "operator set \"%s\" is imported twice; the newer version is used",
			load_shown(l, domain));
	if (known->version < p->version)
		known->version = p->version;
}

int load_opsets(struct loader *l, struct opset_list *list, Onnx__OperatorSetIdProto *const *imports, size_t n)
{
	if (n > OPSETS_MOST)
		return error_set(l->err, "%zu operator sets are imported, more than %d", n, OPSETS_MOST);
	for (size_t i = 0; i < n; i++)
		opset_import(l, list, imports[i]);
	const struct opset *plain = opset_find(list, TEXT(""));
	if (plain && plain->version > KNOWN_OPSET)
		load_warn(l,
			"operator set %" PRId64 " is newer than the newest known one (%d)", plain->version,
			KNOWN_OPSET);
	return 0;
}

static int64_t opset_assumed(const struct loader *l, struct text domain)
{
	int64_t ir = l->m->ir_version;
	if (domain.n == 0)
		return newest_opset[ir < 0 ? 0 : ir > KNOWN_IR ? KNOWN_IR : ir];
	return text_is(domain, "ai.onnx.ml") ? 5 : 1;
}

static const struct opset *opset_of(const struct loader *l, const struct frame *f, struct text domain)
{
	const struct opset *known = f ? opset_find(&f->function->opsets, domain) : NULL;
	return known ? known : opset_find(&l->opsets, domain);
}

int64_t load_opset_peek(const struct loader *l, const struct frame *f, struct text domain)
{
	const struct opset *known = opset_of(l, f, domain);
	return known ? known->version : opset_assumed(l, domain);
}

int64_t load_opset_of(struct loader *l, const struct frame *f, struct text domain)
{
	const struct opset *known = opset_of(l, f, domain);
	int64_t version = load_opset_peek(l, f, domain);
	if (known)
		return version;
	if (domain.n == 0)
		load_warn(l, "the operator set is not given, %" PRId64 " is assumed", version);
	else
		load_warn(l, "the operator set of \"%s\" is not given, %" PRId64 " is assumed",
			load_shown(l, domain), version);
	if (l->opsets.count < 2 * OPSETS_MOST)
		opset_add(&l->opsets, domain, version);
	return version;
}

void opset_list_free(struct opset_list *list)
{
	hash_free(&list->domains);
	free(list->items);
}

void load_ir_version(struct loader *l, int64_t version)
{
	l->m->ir_version = version;
	if (version > KNOWN_IR)
		load_warn(l,
			"format version (IR) %" PRId64 " is newer than the newest known one (%d)", version,
			KNOWN_IR);
	else if (version < 1)
		load_warn(l, "the format version (IR) is missing");
}
