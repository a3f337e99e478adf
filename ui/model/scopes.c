/* A tree of scopes from the names of layers. A parent has a lower number than its children, so that loops
 * over the numbers need no recursion. */
#include "config.h"

#include "ui/model/private.h"
#include "ui/model/scopes.h"

#include "base/hash.h"
#include "plan/value/short_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A scope while the tree is built, with those that are left out. */
struct part {
	const char *path;
	int parent, first, last_row, layers, direct;
	struct text op;        /* of its direct layers */
	bool several;          /* they have several operators, or names of their own */
	bool filled;           /* a child has all its layers */
	int scope;             /* number in the list, or -1: left out */
};

struct tree {
	struct hash at;
	struct part *nodes;
	int count, capacity;
	struct arena *arena;
};

static int node_of(struct tree *t, const char *path, size_t n, int parent)
{
	int64_t known = hash_find(&t->at, (struct text){ path, n });
	if (known >= 0)
		return (int)known;
	VEC_GROW(t->nodes, t->count, t->capacity);
	const char *own = arena_strndup(t->arena, path, n);
	t->nodes[t->count] =
		(struct part){ .path = own, .parent = parent, .first = -1, .last_row = -1, .scope = -1 };
	*hash_at(&t->at, (struct text){ own, n }) = t->count;
	return t->count++;
}

/* The innermost scope of a name, or -1. Its last part is the layer. */
static int node_of_name(struct tree *t, const char *name, bool *again, struct text op)
{
	struct str path = { 0 };
	int node = -1;
	for (const char *p = name + strspn(name, "/"); *p;) {
		size_t n = strcspn(p, "/");
		const char *next = p + n + strspn(p + n, "/");
		if (*next && name_is_repeated(p, n, next)) {
			p = next;
			continue;
		}
		for (size_t i = 0, k; i < n; i += k + 1) {
			k = strcspn(p + i, "./");
			if (!*next && i + k >= n) {
				*again = name_is_op_again(p + i, k, op);
				break;
			}
			str_addf(&path, "%s%.*s", !path.n ? "" : i ? "." : "/", (int)k, p + i);
			node = node_of(t, path.p, path.n, node);
		}
		p = next;
	}
	str_free(&path);
	return node;
}

static void tree_add(const struct app *app, struct tree *t, int row, int *node_at)
{
	int layer = app->listed[row];
	const struct plan_layer *l = app_layer(app, layer);
	struct arena names = { 0 };
	bool again = false;
	int node = node_of_name(t, text_clean(&names, l->name), &again, l->node->op);
	arena_free(&names);
	node_at[layer] = node;
	if (node < 0)
		return;
	struct part *direct = &t->nodes[node];
	direct->several |= !again || (direct->direct && !text_equal(direct->op, l->node->op));
	direct->op = l->node->op;
	direct->direct++;
	for (int i = node; i >= 0; i = t->nodes[i].parent) {
		struct part *n = &t->nodes[i];
		n->first = n->layers ? n->first : layer;
		if (!n->layers || n->last_row == row - 1)
			n->last_row = row;
		n->layers++;
	}
}

/* Numbers the scopes that are kept. A parent has a lower number than its children. */
static void tree_keep(const struct tree *t, struct scopes *s, int all)
{
	for (int i = 0; i < t->count; i++) {
		struct part *n = &t->nodes[i];
		if (n->parent >= 0 && t->nodes[n->parent].layers == n->layers)
			t->nodes[n->parent].filled = true;
	}
	s->list = base_calloc((size_t)t->count + 1, sizeof(*s->list));
	for (int i = 0; i < t->count; i++) {
		struct part *n = &t->nodes[i];
		int parent = n->parent;
		while (parent >= 0 && t->nodes[parent].scope < 0)
			parent = t->nodes[parent].parent;
		if (n->layers < 2 || n->layers == all || n->filled ||
			(n->direct == n->layers && !n->several))
			continue;
		n->scope = s->count;
		s->list[s->count++] = (struct scope){ .path = n->path, .first = n->first,
			.last_row = n->last_row, .layers = n->layers, .own = -1, .child = -1, .next = -1,
			.parent = parent >= 0 ? t->nodes[parent].scope : -1 };
	}
}

/* The scope of each layer; one of a body is where its owner is. */
static void scopes_assign(const struct app *app, struct scopes *s, const struct tree *t, int *node_at)
{
	s->of = base_malloc(((size_t)app->place_count + 1) * sizeof(*s->of));
	for (int i = 0; i < app->place_count; i++) {
		int node = node_at[i], owner = app->places[i].owner;
		while (node >= 0 && t->nodes[node].scope < 0)
			node = t->nodes[node].parent;
		s->of[i] = owner >= 0 ? s->of[owner] : node >= 0 ? t->nodes[node].scope : -1;
	}
}

/* The inner scopes and own layers of each scope, in order. */
static void scopes_link(const struct app *app, struct scopes *s)
{
	s->next = base_malloc(((size_t)app->place_count + 1) * sizeof(*s->next));
	for (int i = s->count - 1; i >= 0; i--) {
		struct scope *parent = s->list[i].parent >= 0 ? &s->list[s->list[i].parent] : NULL;
		s->list[i].next = parent ? parent->child : -1;
		if (parent)
			parent->child = i;
	}
	for (int row = app->listed_count - 1; row >= 0; row--) {
		int layer = app->listed[row], scope = s->of[layer];
		if (scope < 0 || app_is_body(app, layer))
			continue;
		s->next[layer] = s->list[scope].own;
		s->list[scope].own = layer;
	}
}

/* Closes what was closed before. */
static void scopes_keep_closed(struct scopes *s, const struct scopes *before)
{
	struct hash closed = { 0 };
	for (int i = 0; i < before->count; i++)
		if (before->list[i].closed)
			*hash_at(&closed, text_of(before->list[i].path)) = i;
	for (int i = 0; i < s->count && closed.count; i++) {
		s->list[i].closed = hash_find(&closed, text_of(s->list[i].path)) >= 0;
		s->closed += s->list[i].closed;
	}
	hash_free(&closed);
}

void scopes_renew(struct app *app)
{
	struct scopes before = app->scopes;
	struct scopes *s = &app->scopes;
	struct tree t = { .arena = &s->arena };
	int *node_at = base_malloc(((size_t)app->place_count + 1) * sizeof(int)), all = 0;
	*s = (struct scopes){ .made = before.made || app->listed_count };
	for (int i = 0; i < app->place_count; i++)
		node_at[i] = -1;
	for (int row = 0; row < app->listed_count; row++)
		if (!app_is_body(app, app->listed[row])) {
			tree_add(app, &t, row, node_at);
			all++;
		}
	tree_keep(&t, s, all);
	scopes_assign(app, s, &t, node_at);
	scopes_link(app, s);
	scopes_keep_closed(s, &before);
	if (!before.made && all > SCOPES_OPEN_MAX)
		scopes_set_all(app, true);
	free(node_at);
	free(t.nodes);
	hash_free(&t.at);
	scopes_free(&before);
}

void scopes_free(struct scopes *s)
{
	free(s->list);
	free(s->of);
	free(s->next);
	arena_free(&s->arena);
	*s = (struct scopes){ 0 };
}

/* ---- folding */

int scope_closed_around(const struct app *app, int layer)
{
	int found = -1;
	if (!app->scopes.closed || layer < 0)
		return -1;
	for (int i = app->scopes.of[layer]; i >= 0; i = app->scopes.list[i].parent)
		if (app->scopes.list[i].closed)
			found = i;
	return found;
}

int scope_shown_at(const struct app *app, int layer)
{
	int scope = scope_closed_around(app, layer);
	return scope >= 0 && app->scopes.list[scope].first == layer ? scope : -1;
}

void scope_set(struct app *app, int scope, bool closed)
{
	app->scopes.closed += closed - app->scopes.list[scope].closed;
	app->scopes.list[scope].closed = closed;
	app->generation++;
}

bool scope_open(struct app *app, int layer)
{
	int scope = scope_closed_around(app, layer);
	if (scope >= 0)
		scope_set(app, scope, false);
	return scope >= 0;
}

bool scope_close(struct app *app, int layer)
{
	int around = scope_closed_around(app, layer);
	int scope = layer < 0 ? -1 : around >= 0 ? app->scopes.list[around].parent : app->scopes.of[layer];
	if (scope < 0)
		return false;
	scope_set(app, scope, true);
	app->layer = app->scopes.list[scope].first;
	return true;
}

void scope_reveal(struct app *app, int layer)
{
	while (scope_open(app, layer))
		;
}

void scopes_set_all(struct app *app, bool closed)
{
	for (int i = 0; i < app->scopes.count; i++)
		scope_set(app, i, closed);
	int around = scope_closed_around(app, app->layer);
	app->layer = around >= 0 ? app->scopes.list[around].first : app->layer;
}

/* ---- subtotals */

/* What is most in need of attention, first. */
static int severity(enum state s)
{
	static const enum state order[] = { STATE_SUSPECT, STATE_CRASHED, STATE_FAILED, STATE_NO_MEMORY,
		STATE_TIMEOUT, STATE_UNSUPPORTED, STATE_NO_PLAN, STATE_UNKNOWN, STATE_PART, STATE_BEGUN,
		STATE_MISSING, STATE_NONE, STATE_RUNNING, STATE_QUEUED, STATE_NOISY, STATE_STALE, STATE_PROXY,
		STATE_ESTIMATED, STATE_ASSUMED, STATE_PLANNING, STATE_PLANNABLE, STATE_OK, STATE_FUSED,
		STATE_FOLDED };
	int count = (int)(sizeof(order) / sizeof(*order)), i = 0;
	while (i < count && order[i] != s)
		i++;
	return count - i;
}

/* Inner scopes come after their outer one and before the next of the same parent. */
static enum state find_worst(const struct app *app, int scope)
{
	const struct scopes *s = &app->scopes;
	enum state worst = STATE_FREE;
	for (int i = scope; i >= 0;) {
		for (int layer = s->list[i].own; layer >= 0; layer = s->next[layer]) {
			enum state state = app_state_of(app, layer);
			worst = severity(state) > severity(worst) ? state : worst;
		}
		if (s->list[i].child >= 0) {
			i = s->list[i].child;
			continue;
		}
		while (i != scope && s->list[i].next < 0)
			i = s->list[i].parent;
		i = i == scope ? -1 : s->list[i].next;
	}
	return worst;
}

enum state scope_worst(struct app *app, int scope)
{
	struct scope *s = &app->scopes.list[scope];
	struct queue *q = session_queue(app->session);
	uint64_t jobs = q ? queue_version(q) : 0;
	if (s->worst_at != app->generation || s->worst_jobs != jobs)
		s->worst = find_worst(app, scope);
	s->worst_at = app->generation;
	s->worst_jobs = jobs;
	return s->worst;
}

static void totals_add(struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	double ns = app_cost_all(app, layer);
	for (int i = app->scopes.of[layer]; i >= 0; i = app->scopes.list[i].parent) {
		struct scope *s = &app->scopes.list[i];
		s->ns = isnan(ns) ? s->ns : isnan(s->ns) ? ns : s->ns + ns;
		s->missing += isnan(ns);
		s->flops += app_layer(app, layer)->flops;
		s->guess |= c && app_is_guess(c);
		s->critical |= app_is_critical(app, c);
	}
}

const struct scope *scope_at(struct app *app, int scope)
{
	struct scopes *s = &app->scopes;
	if (s->totals_at == app->generation)
		return &s->list[scope];
	s->totals_at = app->generation;
	s->most_ns = 0;
	for (int i = 0; i < s->count; i++) {
		struct scope *one = &s->list[i];
		one->ns = NAN;
		one->flops = 0;
		one->missing = 0;
		one->guess = one->critical = false;
	}
	for (int row = 0; row < app->listed_count; row++)
		if (!app_is_body(app, app->listed[row]))
			totals_add(app, app->listed[row]);
	for (int i = 0; i < s->count; i++)
		s->most_ns = s->list[i].closed && s->list[i].ns > s->most_ns ? s->list[i].ns : s->most_ns;
	return &s->list[scope];
}
