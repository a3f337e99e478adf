/* Measuring again what an execution contradicts, in turn with it. */
#include "config.h"

#include "session/session_private.h"
#include "session/session_reality.h"

/* True if the group is faster in this execution, which was not judged in turn with its measurements. */
static bool is_open(const struct reality *y, const struct reality_group *g)
{
	return g && !g->in_turn &&
		(reality_contradicts(y, g) || (g->kind == GAP_FASTER && g->doubt == DOUBT_TURN));
}

bool session_turn_open(const struct reality *y)
{
	bool open = (y->contradicted || y->unclear || y->unconfirmed) && !y->in_turn;
	for (int i = 0; i < y->group_count && !open; i++)
		open = is_open(y, &y->groups[i]);
	return open;
}
int session_turn_measure(struct session *s, const struct reality *y)
{
	struct arena scratch = { 0 };
	bool *marked = ARENA_ARRAY(&scratch, bool, y->match->layer_count + 1);
	for (int i = 0; i < y->match->layer_count; i++)
		marked[i] = y->contradicted || y->unclear || y->unconfirmed ||
			is_open(y, session_reality_group(y, i));
	int added = session_measure_layers(s, marked);
	arena_free(&scratch);
	return added;
}
