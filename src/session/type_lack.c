/* Says that a device has no peak or library for a model's type, and which type it has. */
#include "config.h"

#include "session/type_lack.h"

struct type_lack type_lack_of(const struct plan *p, const struct analysis *x, struct arena *a)
{
	struct type_lack l = { 0 };
	l.layers = ARENA_ARRAY(a, int, x ? x->layer_count + 1 : 1);
	for (int i = 0; x && i < x->layer_count; i++) {
		const struct plan_problem *problem = plan_layer_problem(p, &p->layers[i]);
		struct problem full;
		if (!problem)
			continue;
		l.of++;
		problem_restore(problem->problem, &full);
		enum dtype type = full.operand[0].dtype;
		if (x->layers[i].origin != ORIGIN_UNSUPPORTED || (type != DTYPE_F16 && type != DTYPE_BF16))
			continue;
		l.type = l.type ? l.type : type;
		l.layers[l.count++] = i;
	}
	return l;
}

const char *type_lack_text(const struct type_lack *l, struct arena *a)
{
	return arena_printf(a,
		"this device has no %s for %d of %d layers, where frameworks insert casts and compute in f32",
		dtype_name(l->type), l->count, l->of);
}
