/* What the tests of fused groups share. */
#ifndef FUSION_HELP_H
#define FUSION_HELP_H

#include "analyze/analyze.h"

#include "tap.h"

/* Group i of those that begin with this layer, or NULL. */
__attribute__((unused)) static const struct fusion_group *group_at(const struct fusion *f, int anchor, int i)
{
	int g = f->first_group[anchor];
	bool there = g >= 0 && g + i < f->group_count && f->groups[g + i].layers[0] == anchor;
	return there ? &f->groups[g + i] : NULL;
}

/* Group i of those that begin with this layer has this name and number of layers, and is measured as this
 * problem. */
__attribute__((unused)) static void is_group(
	const struct fusion *f, int anchor, int i, const char *pattern, int layers, const char *text)
{
	const struct fusion_group *g = group_at(f, anchor, i);
	is_str(g ? g->pattern : NULL, pattern, "%s", pattern);
	is_int(g ? g->layer_count : -1, layers, "... of %d layers", layers);
	is_str(g ? g->text : NULL, text, "... is measured as one problem");
}

#endif
