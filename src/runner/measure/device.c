/* The hello: stack and attributes from the probes of all backends. */
#include "config.h"

#include "runner/measure/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/measure/platform.h"

void device_part(struct device_draft *draft, const char *part)
{
	if (*part)
		str_addf(&draft->stack, "%s%s", draft->stack.n ? ", " : "", part);
}

int device_probe(struct device_draft *draft, bool *has_matrix, struct error *err)
{
	for (int i = 0; platform.backends[i]; i++) {
		struct str part = { 0 };
		const struct backend *b = platform.backends[i];
		int bad = b->probe && b->probe(&part, draft->attributes, has_matrix, err);
		if (!bad && part.n)
			device_part(draft, part.p);
		str_free(&part);
		if (bad)
			return -1;
	}
	return 0;
}

void device_finish(struct device_draft *draft, struct arena *a, struct device *d)
{
	char host[256] = "";
	char *text = json_dumps(draft->attributes, JSON_COMPACT);
	gethostname(host, sizeof(host) - 1);
	d->runner = platform.program;
	d->version = PACKAGE_VERSION;
	d->host = text_clean(a, text_of(host));
	d->stack = arena_strndup(a, draft->stack.n ? draft->stack.p : "", draft->stack.n);
	d->attributes = arena_strndup(a, text ? text : "{}", text ? strlen(text) : 2);
	free(text);
	json_decref(draft->attributes);
	str_free(&draft->stack);
	*draft = (struct device_draft){ 0 };
}
