/* Questions that all parts of the queue ask: takers, missing results, wanted jobs. */
#include "config.h"

#include "drive/queue_private.h"

#include <math.h>
#include <string.h>

const struct taker *queue_taker(const struct queue *q, const char *kind)
{
	for (int i = 0; i < q->taker_count; i++)
		if (strcmp(q->takers[i].kind, kind) == 0)
			return &q->takers[i];
	return NULL;
}

bool queue_lacks(const struct queue *q, const char *problem, double distance, bool huge,
	bool lacks[CACHE_COUNT])
{
	bool caches[CACHE_COUNT];
	if (q->caches_given || isnan(distance)) {
		device_states(&q->device, distance, false, lacks);
		return !results_is_finished(q->results, problem);
	}
	device_states(&q->device, distance, huge, caches);
	return results_lack(q->results, problem, caches, lacks);
}

bool queue_is_stuck(const struct queue *q)
{
	for (int i = 0; i < q->worker_count; i++)
		if (!q->workers[i].broken)
			return false;
	return true;
}
