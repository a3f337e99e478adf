/* Defaults of backends. */
#include "config.h"

#include "runner/measure/backend.h"

#include <stdlib.h>

enum status backend_status(int returned)
{
	return returned < 0 ? STATUS_FAILED : (enum status)returned;
}

void backend_forget(struct backend_list *list)
{
	free(list->state);
	*list = (struct backend_list){ 0 };
}

struct backend_single *backend_single(
	struct backend_list *list, const struct problem *p, const struct algorithm *a)
{
	struct backend_single *s = base_calloc(1, sizeof(*s));
	s->problem = *p;
	s->algorithm = *a;
	s->algorithm.name = s->name;
	*list = (struct backend_list){ .count = 1, .algorithm = &s->algorithm, .state = s };
	return s;
}
