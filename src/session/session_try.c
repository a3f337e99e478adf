/* What the bound says of a change that may be tried: another batch, type, number of threads, no fusion. */
#include "config.h"

#include "session/session_try.h"
#include "session/session_private.h"

#include "base/log.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static struct session_bound bound_of(const struct analysis *a)
{
	return (struct session_bound){
		a && a->complete ? a->total_ns : NAN, a && (a->estimated || a->rough) };
}

struct session_bound session_bound_at(struct session *s, int64_t batch, enum dtype dtype)
{
	struct variant v = session_variant(s);
	v.batch = batch;
	v.dtype = dtype;
	return session_bound_of(s, &v);
}

struct session_bound session_bound_of(struct session *s, const struct variant *v)
{
	struct session_bound found = { NAN, false };
	struct variant_ground g;
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	if (variant_open(s, v, &g, &err))
		log_line("no bound of batch %lld %s: %s", (long long)v->batch, session_type_name(s, v->dtype),
			err.text);
	else
		found = bound_of(variant_analysis(&g, &a));
	variant_close(&g);
	arena_free(&a);
	return found;
}

/* Returns what follows "12 threads" or "1 thread" at the start of p, or NULL if p starts differently. */
static const char *after_threads(const char *p)
{
	size_t digits = strspn(p, "0123456789");
	if (!digits || strncmp(p + digits, " thread", 7) != 0)
		return NULL;
	p += digits + 7;
	return p + (*p == 's');
}

bool session_stack_is_like(const char *a, const char *b)
{
	for (bool inside = false; *a && *b;) {
		const char *x = inside ? NULL : after_threads(a), *y = inside ? NULL : after_threads(b);
		if (x && y) {
			a = x;
			b = y;
		} else if (*a++ != *b++) {
			return false;
		} else {
			inside = isalnum((unsigned char)a[-1]);
		}
	}
	return !*a && !*b;
}

struct session_bound session_bound_threads(struct session *s, int threads)
{
	struct arena a = { 0 };
	struct device *devices = NULL;
	int64_t *ids = NULL;
	const struct device *own = &s->seat->device;
	struct error err = ERROR_NONE;
	int count = 0, at = 0;
	if (!s->store || !own->model || !own->stack ||
		store_devices(s->store, &a, &devices, &ids, &count, &err))
		count = 0;
	while (at < count && (devices[at].threads != threads || strcmp(devices[at].model, own->model) != 0 ||
			!session_stack_is_like(devices[at].stack, own->stack)))
		at++;
	struct session_bound bound = { NAN, false };
	if (at < count) {
		const struct session_device other = { .kind = SESSION_RECORDED, .id = ids[at],
			.key = arena_printf(&a, "%lld", (long long)ids[at]) };
		struct variant v = session_variant(s);
		v.device = &other;
		bound = session_bound_of(s, &v);
	}
	arena_free(&a);
	return bound;
}

static bool convolves(const struct plan *p)
{
	for (int i = 0; i < p->problem_count; i++)
		if (p->problems[i].problem->kernel == KERNEL_CONV)
			return true;
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].body_count; j++)
			if (convolves(&p->layers[i].bodies[j]))
				return true;
	return false;
}

bool session_convolves(const struct session *s)
{
	return convolves(s->current->plan);
}

double session_fusion_saves(struct session *s, const struct reality *y)
{
	struct arena a = { 0 };
	struct ground g = session_ground(s);
	struct scenario alone = s->scenario;
	alone.fusion = false;
	const struct analysis *bound = analyze(&a, &g, &alone);
	double ns = NAN;
	if (y->execution->row_count && bound->complete)
		ns = -reality_of(&a, &g, &alone, bound, y->execution, y->match)->gaps[GAP_FUSION].ns;
	arena_free(&a);
	return ns;
}
