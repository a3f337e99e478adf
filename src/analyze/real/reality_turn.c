/* A contradiction holds if both sides were measured again in turn: an execution, the layers, an execution.
 * Without this, a change of the machine's speed between both sides looks like a contradiction. */
#include "config.h"

#include "analyze/real/reality_private.h"

static bool between(const struct reality *first, struct dates d, const struct reality *y)
{
	return d.first && d.first >= first->execution->measured_at && d.last <= y->execution->measured_at;
}

static bool contradicts_at(const struct reality *y, int layer)
{
	const struct reality_group *g = group_of_layer(y, layer);
	return g && reality_contradicts(y, g);
}

static void group_turn(struct reality *y, struct reality_group *g, const struct reality *first)
{
	bool now = reality_contradicts(y, g), before = false;
	for (int i = 0; i < g->layer_count; i++)
		before |= contradicts_at(first, g->layers[i]);
	g->in_turn = between(first, g->dates, y);
	if (now == before || g->doubt || g->dates.last > y->execution->measured_at)
		return;
	y->contradicted_count -= now;
	y->doubt_count[DOUBT_NONE] -= now;
	y->doubt_count[DOUBT_TURN]++;
	g->doubt = DOUBT_TURN;
}

void reality_turn(struct reality *y, const struct reality *first)
{
	if (y->not_comparable || first->not_comparable)
		return;
	for (int i = 0; i < y->group_count; i++)
		group_turn(y, &y->groups[i], first);
	y->in_turn = between(first, y->dates, y);
	y->unconfirmed = y->contradicted && !first->contradicted &&
		y->dates.last <= y->execution->measured_at;
	y->contradicted &= !y->unconfirmed;
}

int reality_not_again(const struct reality *y)
{
	int count = 0;
	for (int i = 0; i < y->group_count; i++)
		count += reality_contradicts(y, &y->groups[i]) && !y->groups[i].in_turn;
	return count;
}
