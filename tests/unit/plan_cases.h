/* Runs files of cases about plans (tests/plan/NAME.case). A case:
 *
 *   == its name
 *   agraph (float[N,8] x) => (y) { y = Relu(x) }         a model (net_text.h)
 *   plan -b 4 -t bf16 --dim h=14 --input x=2x8 --value size=2,5      or without options; more may follow
 *   shape y: 4x8   # a comment                           KEY SUBJECT: what the plan says of it
 *   again float[N,8] => float[N,9]                       the same model with other text in it; plans follow
 *
 * A subject is a value, or the layer that makes it; y/0/inner is `inner` in the first body of that layer;
 * without one, the plan. Numbers may be expressions: flops y: 2*4*8. The keys are the rows of case_texts and
 * case_members. GENERATE=1 writes what came into the file, for review. */
#ifndef PLAN_CASES_H
#define PLAN_CASES_H

#include "net_text.h"
#include "tap.h"

#include "base/str.h"

struct case_asked {
	const struct plan *p;
	const struct plan_value *v;
	const struct plan_layer *l;
	const char *subject, *want;
	struct str *out;
	struct arena *arena;
};

/* ---- what is asked about */

NET_OK const struct plan_layer *case_layer(const struct plan *p, const char *name)
{
	const struct plan_value *v = net_planned(p, name);
	if (v)
		return v->producer >= 0 ? &p->layers[v->producer] : NULL;
	for (int i = 0; i < p->layer_count; i++)
		if (text_is(p->layers[i].name, name))
			return &p->layers[i];
	return NULL;
}

/* "y/0/inner": in bodies; "": the plan. False: there is no such value, layer or body. */
NET_OK bool case_find(struct case_asked *q)
{
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", q->subject);
	for (char *save, *word = strtok_r(copy, "/", &save); word; word = strtok_r(NULL, "/", &save)) {
		q->v = net_planned(q->p, word);
		q->l = case_layer(q->p, word);
		char *body = strtok_r(NULL, "/", &save);
		if (!body)
			return q->v || q->l;
		if (!q->l || atoi(body) >= q->l->body_count)
			return false;
		q->p = &q->l->bodies[atoi(body)];
		q->v = NULL;
		q->l = NULL;
	}
	return true;
}

NET_OK struct text case_name(const struct plan *p, int layer)
{
	const struct plan_layer *l = &p->layers[layer];
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0 && p->values[l->outputs[i]].name.n)
			return p->values[l->outputs[i]].name;
	return l->name;
}

NET_OK void case_add(struct case_asked *q, struct text word)
{
	str_addf(q->out, "%s%.*s", q->out->n ? " " : "", (int)word.n, word.p);
}

NET_OK void case_layers(struct case_asked *q, const int *layers, int count)
{
	for (int i = 0; i < count; i++)
		case_add(q, case_name(q->p, layers[i]));
}

/* ---- answers */

NET_OK void tell_shape(struct case_asked *q)
{
	str_addf(q->out, "%s", plan_value_text(q->arena, q->v));
}

NET_OK void tell_type(struct case_asked *q)
{
	str_addf(q->out, "%s", dtype_name(q->v->dtype));
}

NET_OK void tell_contents(struct case_asked *q)
{
	for (int i = 0; q->v->elements && q->v->elements->i && i < q->v->elements->count; i++) {
		struct dim d = q->v->elements->i[i];
		const char *number = arena_printf(q->arena, "%lld", (long long)d.value);
		case_add(q, text_of(d.kind == DIM_KNOWN ? number : "?"));
	}
}

NET_OK void tell_readers(struct case_asked *q)
{
	case_layers(q, q->v->consumers, q->v->consumer_count);
}

NET_OK void tell_dies(struct case_asked *q)
{
	case_layers(q, &q->v->dies_in, q->v->dies_in >= 0);
}

NET_OK void tell_problem(struct case_asked *q)
{
	const struct plan_problem *problem = plan_layer_problem(q->p, q->l);
	str_addf(q->out, "%s%s", problem && q->l->proxy ? "~" : "", problem ? problem->text : "");
	if (!problem && q->l->why)
		str_addf(q->out, "none: %s", q->l->why);
}

NET_OK void tell_uses(struct case_asked *q)
{
	const struct plan_problem *problem = plan_layer_problem(q->p, q->l);
	if (problem) {
		struct text first = case_name(q->p, problem->first_layer);
		str_addf(q->out, "%d, first by %.*s", problem->use_count, (int)first.n, first.p);
	}
}

NET_OK void tell_why(struct case_asked *q)
{
	str_addf(q->out, "%s", q->l->why ? q->l->why : "");
}

NET_OK void tell_class(struct case_asked *q)
{
	str_addf(q->out, "%s", op_class_name(q->l->class));
}

NET_OK void tell_preds(struct case_asked *q)
{
	case_layers(q, q->l->preds, q->l->pred_count);
}

NET_OK void tell_succs(struct case_asked *q)
{
	case_layers(q, q->l->succs, q->l->succ_count);
}

/* Layers whose work the kernel of this one does; they cost nothing. */
NET_OK void tell_absorbs(struct case_asked *q)
{
	for (int i = 0; i < q->p->layer_count; i++) {
		const struct plan_layer *l = &q->p->layers[i];
		if (l->absorbed_by != q->l->index)
			continue;
		case_add(q, case_name(q->p, i));
		if (l->class != CLASS_FREE || l->flops != 0 || l->bytes != 0 || l->problem >= 0)
			case_add(q, TEXT("(not free)"));
	}
}

/* The subjects are layers of one kernel: "s,m". */
NET_OK void tell_overwrites_when(struct case_asked *q, bool folded)
{
	int layers[16], count = 0;
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", q->subject);
	for (char *save, *d = strtok_r(copy, ",", &save); d && count < 16; d = strtok_r(NULL, ",", &save)) {
		const struct plan_layer *l = case_layer(q->p, d);
		layers[count++] = l ? l->index : 0;
	}
	str_addf(q->out, "%s", plan_overwrites(q->p, layers, count, folded) ? "yes" : "no");
}

NET_OK void tell_overwrites(struct case_asked *q)
{
	tell_overwrites_when(q, false);
}

NET_OK void tell_overwrites_folded(struct case_asked *q)
{
	tell_overwrites_when(q, true);
}

NET_OK void tell_types(struct case_asked *q)
{
	str_addf(q->out, "%s", plan_type_name(q->p));
}

NET_OK void tell_casts(struct case_asked *q)
{
	for (int i = 0; i < q->p->border_count; i++) {
		const struct plan_border *b = &q->p->borders[i];
		const struct plan_problem *problem = b->problem < 0 ? NULL : &q->p->problems[b->problem];
		case_add(q, text_of(b->is_input ? "in" : "out"));
		case_add(q, text_of(!problem ? "?" : problem->border ? problem->text : "(not of a border)"));
	}
}

NET_OK void tell_bound(struct case_asked *q)
{
	static const char *const sources[] = { "binding", "batch", "shape", "fixed", "assumed" };
	for (int i = 0; i < q->p->binding_count; i++) {
		const struct dim_binding *b = &q->p->bindings[i];
		case_add(q, text_of(arena_printf(q->arena, "%.*s=%lld(%s)", (int)b->name.n, b->name.p,
				       (long long)b->value, sources[q->p->binding_sources[i]])));
	}
}

NET_OK void tell_unbound(struct case_asked *q)
{
	for (int i = 0; i < q->p->unbound_count; i++)
		case_add(q, q->p->unbound[i]);
}

NET_OK void tell_needs(struct case_asked *q)
{
	const char *line = plan_needs_line(q->p, q->arena);
	str_addf(q->out, "%s", line ? line : "");
}

NET_OK void tell_idle(struct case_asked *q)
{
	str_addf(q->out, "%s", q->p->idle_value ? q->p->idle_value : "");
}

/* A warning that contains what is wanted, or all. */
NET_OK void tell_warning(struct case_asked *q)
{
	for (int i = 0; i < q->p->warning_count; i++) {
		if (strstr(q->p->warnings[i], q->want) && *q->want) {
			str_clear(q->out);
			str_addf(q->out, "%s", q->want);
			return;
		}
		str_addf(q->out, "%s%s", i ? " | " : "", q->p->warnings[i]);
	}
}

NET_OK void tell_no_warning(struct case_asked *q)
{
	tell_warning(q);
	bool said = q->out->n && strcmp(q->out->p, q->want) == 0;
	str_clear(q->out);
	str_addf(q->out, "%s%s", said ? "a warning: " : "", q->want);
}

/* Those of the wanted layers that no other layer absorbs. */
NET_OK void tell_if(struct case_asked *q, bool free)
{
	char copy[512];
	snprintf(copy, sizeof(copy), "%s", q->want);
	for (char *save, *d = strtok_r(copy, " ", &save); d; d = strtok_r(NULL, " ", &save)) {
		const struct plan_layer *l = case_layer(q->p, d);
		if (l && (free ? l->class == CLASS_FREE : l->absorbed_by < 0))
			case_add(q, text_of(d));
	}
}

NET_OK void tell_alone(struct case_asked *q)
{
	tell_if(q, false);
}

NET_OK void tell_free(struct case_asked *q)
{
	tell_if(q, true);
}

enum case_of { OF_PLAN, OF_VALUE, OF_LAYER };

static const struct {
	const char *key;
	enum case_of of;
	void (*tell)(struct case_asked *q);
} case_texts[] = {
	{ "shape", OF_VALUE, tell_shape },
	{ "type", OF_VALUE, tell_type },
	{ "contents", OF_VALUE, tell_contents },
	{ "readers", OF_VALUE, tell_readers },
	{ "dies in", OF_VALUE, tell_dies },
	{ "problem", OF_LAYER, tell_problem },
	{ "uses", OF_LAYER, tell_uses },
	{ "why", OF_LAYER, tell_why },
	{ "class", OF_LAYER, tell_class },
	{ "waits for", OF_LAYER, tell_preds },
	{ "precedes", OF_LAYER, tell_succs },
	{ "absorbs", OF_LAYER, tell_absorbs },
	{ "overwrites", OF_PLAN, tell_overwrites },
	{ "overwrites folded", OF_PLAN, tell_overwrites_folded },
	{ "type", OF_PLAN, tell_types },
	{ "casts", OF_PLAN, tell_casts },
	{ "bound", OF_PLAN, tell_bound },
	{ "unbound", OF_PLAN, tell_unbound },
	{ "needs", OF_PLAN, tell_needs },
	{ "idle", OF_PLAN, tell_idle },
	{ "warning", OF_PLAN, tell_warning },
	{ "no warning", OF_PLAN, tell_no_warning },
	{ "alone", OF_PLAN, tell_alone },
	{ "free", OF_PLAN, tell_free },
};

enum case_form { FORM_INT, FORM_LONG, FORM_DOUBLE, FORM_BOOL };

/* Members as they are. */
static const struct {
	const char *key;
	enum case_of of;
	enum case_form form;
	size_t at;
} case_members[] = {
#define ROW(key, of, form, type, member) { key, of, form, offsetof(struct type, member) }
	ROW("layers", OF_PLAN, FORM_INT, plan, layer_count),
	ROW("problems", OF_PLAN, FORM_INT, plan, problem_count),
	ROW("batch", OF_PLAN, FORM_LONG, plan, batch),
	ROW("flops", OF_PLAN, FORM_DOUBLE, plan, flops),
	ROW("bytes", OF_PLAN, FORM_DOUBLE, plan, bytes),
	ROW("weights", OF_PLAN, FORM_DOUBLE, plan, weight_bytes),
	ROW("live", OF_PLAN, FORM_DOUBLE, plan, peak_live_bytes),
	ROW("times", OF_PLAN, FORM_DOUBLE, plan, times),
	ROW("up to", OF_PLAN, FORM_BOOL, plan, upto),
	ROW("folds", OF_PLAN, FORM_INT, plan, fold_count),
	ROW("warnings", OF_PLAN, FORM_INT, plan, warning_count),
	ROW("unknown shapes", OF_PLAN, FORM_INT, plan, unknown_shapes),
	ROW("unknown flops", OF_PLAN, FORM_INT, plan, unknown_flops_layers),
	ROW("constant", OF_VALUE, FORM_BOOL, plan_value, constant),
	ROW("flops", OF_LAYER, FORM_DOUBLE, plan_layer, flops),
	ROW("bytes", OF_LAYER, FORM_DOUBLE, plan_layer, bytes),
	ROW("up to", OF_LAYER, FORM_BOOL, plan_layer, upto),
	ROW("at least", OF_LAYER, FORM_BOOL, plan_layer, at_least),
	ROW("proxy", OF_LAYER, FORM_BOOL, plan_layer, proxy),
	ROW("quantized", OF_LAYER, FORM_BOOL, plan_layer, quantized),
	ROW("bodies", OF_LAYER, FORM_INT, plan_layer, body_count),
#undef ROW
};

NET_OK bool case_member(struct case_asked *q, size_t row)
{
	const void *base = case_members[row].of == OF_PLAN    ? (const void *)q->p
			   : case_members[row].of == OF_VALUE ? (const void *)q->v
							      : (const void *)q->l;
	const char *at = (const char *)base + case_members[row].at;
	if (!base)
		return false;
	switch (case_members[row].form) {
	case FORM_INT: str_addf(q->out, "%d", *(const int *)at); break;
	case FORM_LONG: str_addf(q->out, "%lld", (long long)*(const int64_t *)at); break;
	case FORM_BOOL: str_addf(q->out, "%s", *(const bool *)at ? "yes" : "no"); break;
	case FORM_DOUBLE:
		if (isnan(*(const double *)at))
			str_addf(q->out, "unknown");
		else
			str_addf(q->out, "%.15g", *(const double *)at);
		break;
	}
	return true;
}

/* Keys of a test program, asked first; false: it is none of them. */
NET_OK bool (*case_more)(struct case_asked *q, const char *key);

/* Returns false if there is no such key or subject. */
NET_OK bool case_answer(struct case_asked *q, const char *key)
{
	if (case_more && case_more(q, key)) {
		if (!q->out->n)
			str_addf(q->out, "-");
		return true;
	}
	if (strncmp(key, "overwrites", 10) != 0 && !case_find(q))
		return false;
	enum case_of whole = !q->v && !q->l ? OF_PLAN : OF_VALUE;
	for (size_t i = 0; i < sizeof(case_texts) / sizeof(*case_texts); i++) {
		enum case_of of = case_texts[i].of;
		if (strcmp(case_texts[i].key, key) != 0 || (of == OF_PLAN) != (whole == OF_PLAN) ||
			(of == OF_VALUE && !q->v) || (of == OF_LAYER && !q->l))
			continue;
		case_texts[i].tell(q);
		if (!q->out->n)
			str_addf(q->out, "-");
		return true;
	}
	for (size_t i = 0; i < sizeof(case_members) / sizeof(*case_members); i++)
		if (strcmp(case_members[i].key, key) == 0 &&
			(case_members[i].of == OF_PLAN) == (whole == OF_PLAN) && case_member(q, i))
			return true;
	return false;
}

/* question: "KEY SUBJECT". The longest key counts: "dies in x". */
NET_OK bool case_ask(const struct plan *p, struct arena *a, const char *question, const char *want,
	struct str *out)
{
	bool known = false;
	char key[64];
	for (size_t at = strlen(question); !known && at > 0; at--) {
		if (question[at] && question[at] != ' ')
			continue;
		const char *subject = question[at] ? question + at + 1 : "";
		struct case_asked q = { .p = p, .subject = subject, .want = want, .out = out, .arena = a };
		snprintf(key, sizeof(key), "%.*s", (int)at, question);
		known = case_answer(&q, key);
	}
	return known;
}

/* ---- numbers: + - * / and ( ) */

NET_OK double case_sum(const char **p);

NET_OK double case_atom(const char **p)
{
	double d;
	char *end;
	*p += strspn(*p, " ");
	if (**p == '(') {
		++*p;
		d = case_sum(p);
		*p += strspn(*p, " ");
		*p += **p == ')';
		*p += strspn(*p, " ");
		return d;
	}
	d = strtod(*p, &end);
	if (end == *p)
		d = (double)NAN;
	*p = end + strspn(end, " ");
	return d;
}

NET_OK double case_product(const char **p)
{
	double d = case_atom(p);
	while (**p == '*' || **p == '/') {
		char op = *(*p)++;
		double other = case_atom(p);
		d = op == '*' ? d * other : d / other;
	}
	return d;
}

NET_OK double case_sum(const char **p)
{
	double d = case_product(p);
	while (**p == '+' || **p == '-') {
		char op = *(*p)++;
		double other = case_product(p);
		d = op == '+' ? d + other : d - other;
	}
	return d;
}

NET_OK bool case_same(const char *got, const char *want)
{
	char *end;
	double number = strtod(got, &end);
	if (strcmp(got, want) == 0)
		return true;
	if (*end || end == got)
		return false;
	double wanted = case_sum(&want);
	return !*want && fabs(number - wanted) <= 1e-12 * fabs(wanted);
}

/* The same from C. */
NET_OK void case_is(const struct plan *p, const char *question, const char *want)
{
	struct arena a = { 0 };
	struct str out = { 0 };
	bool known = p && case_ask(p, &a, question, want, &out);
	if (!ok(known && case_same(out.p, want), "%s", question))
		printf("# got  %s\n# want %s\n", known ? out.p : "(no such key or subject)", want);
	str_free(&out);
	arena_free(&a);
}

/* ---- options of a plan */

struct case_plan {
	struct net *net;
	struct plan *plan;
	struct arena arena;
	struct plan_options o;
	struct dim_binding dims[8];
	struct plan_input_shape shapes[8];
	struct plan_input_value values[8];
};

NET_OK void case_input(struct case_plan *c, struct text name, const char *numbers)
{
	struct plan_input_shape *s = &c->shapes[c->o.shape_count++];
	*s = (struct plan_input_shape){ .name = name };
	for (const char *p = numbers; *p; p += *p == 'x')
		s->dims[s->rank++] = strtoll(p, (char **)&p, 10);
}

NET_OK void case_value(struct case_plan *c, struct text name, const char *numbers)
{
	double *list = ARENA_ARRAY(&c->arena, double, 64);
	struct plan_input_value *v = &c->values[c->o.value_count++];
	*v = (struct plan_input_value){ name, 0, list };
	for (const char *p = numbers; *p; p += *p == ',')
		list[v->count++] = strtod(p, (char **)&p);
}

/* The next word of a line, "within quotes" with blanks; NULL behind the last. */
NET_OK char *case_word(char **line)
{
	char *p = *line + strspn(*line, " ");
	char *end = *p == '"' ? ++p, strchr(p, '"') : p + strcspn(p, " ");
	if (!*p || !end)
		return NULL;
	*line = *end ? end + 1 : end;
	*end = '\0';
	return p;
}

/* Returns false at a word that is no option. */
NET_OK bool case_options(struct case_plan *c, char *line)
{
	c->o = (struct plan_options){ .bindings = c->dims, .shapes = c->shapes, .values = c->values };
	for (char *word; (word = case_word(&line));) {
		char *value = case_word(&line), *eq = value ? strchr(value, '=') : NULL;
		struct text name = eq ? (struct text){ value, (size_t)(eq - value) } : TEXT("");
		if (!value)
			return false;
		if (strcmp(word, "-b") == 0)
			c->o.batch = atoll(value);
		else if (strcmp(word, "-t") == 0)
			c->o.dtype = dtype_parse(text_of(value));
		else if (strcmp(word, "--rest") == 0)
			c->o.rest = dtype_parse(text_of(value));
		else if (strcmp(word, "--dim") == 0 && eq)
			c->dims[c->o.binding_count++] = (struct dim_binding){ name, atoll(eq + 1) };
		else if (strcmp(word, "--input") == 0 && eq)
			case_input(c, name, eq + 1);
		else if (strcmp(word, "--value") == 0 && eq)
			case_value(c, name, eq + 1);
		else
			return false;
	}
	return true;
}

/* ---- files */

struct case_file {
	const char *path;
	int line;
	char title[128];
	const char *model; /* the text of the case's model, with what follows it */
	struct case_plan now;
	void (*each)(const struct plan *p); /* is shown each plan; may be NULL */
	struct str written;
};

NET_OK void case_end(struct case_file *f, bool model)
{
	plan_free(f->now.plan);
	f->now.plan = NULL;
	arena_free(&f->now.arena);
	f->now.arena = (struct arena){ 0 };
	if (model && f->now.net)
		net_free(f->now.net);
	f->now.net = model ? NULL : f->now.net;
}

/* "key subject: what is wanted   # comment" */
NET_OK void case_check(struct case_file *f, char *line)
{
	struct str out = { 0 };
	char *comment = strstr(line, "   # ");
	if (comment)
		*comment = '\0';
	char *colon = strstr(line, ": ");
	size_t n = strlen(line);
	if (!colon && n && line[n - 1] == ':')
		colon = line + n - 1;
	if (!ok(colon && f->now.net, "%s:%d: KEY SUBJECT: VALUE behind a plan", f->path, f->line))
		return;
	const char *want = colon + strspn(colon, ": ");
	bool known = false, plan = f->now.plan != NULL, error = strncmp(line, "error:", 6) == 0;
	*colon = '\0';
	if (error || !plan) {
		known = true;
		str_addf(&out, "%s", !plan && error && *want && strstr(net_error.text, want) ? want
			: plan ? "no error" : net_error.text);
	}
	if (!known)
		known = case_ask(f->now.plan, &f->now.arena, line, want, &out);
	bool same = known && case_same(out.n ? out.p : "", want);
	if (!ok(same, "%s:%d: %s: %s%s", f->path, f->line, f->title, line, comment ? comment + 2 : ""))
		printf("# got  %s\n# want %s\n", known && out.n ? out.p : "(no such key or subject)", want);
	str_addf(&f->written, "%s: %s%s%s\n", line, same || !out.n ? want : out.p, comment ? "   # " : "",
		comment ? comment + 5 : "");
	str_free(&out);
}

/* Reads the model; returns what follows it. */
NET_OK const char *case_model(struct case_file *f, const char *text)
{
	const char *end, *expected = NULL;
	case_end(f, true);
	f->now.net = net_text(text, &end, &expected);
	if (!ok(f->now.net != NULL, "%s:%d: %s: the model is read", f->path, f->line, f->title))
		printf("# expected %s before %.40s\n", expected, end);
	return end;
}

/* "again OLD => NEW": every OLD of the case's model is NEW. */
NET_OK void case_again(struct case_file *f, const char *line)
{
	const char *arrow = strstr(line, " => "), *p = f->model;
	struct str text = { 0 };
	if (!ok(arrow && arrow > line && p, "%s:%d: again OLD => NEW", f->path, f->line))
		return;
	size_t n = (size_t)(arrow - line);
	for (; *p; p += p[0] && !strncmp(p, line, n) ? n : 1) {
		if (strncmp(p, line, n) == 0)
			str_addf(&text, "%s", arrow + 4);
		else
			str_add(&text, p, 1);
	}
	case_model(f, text.p);
	str_free(&text);
}

NET_OK void case_line(struct case_file *f, char *line)
{
	if (!*line || *line == '#') {
		str_addf(&f->written, "%s\n", line);
	} else if (strncmp(line, "again ", 6) == 0) {
		str_addf(&f->written, "%s\n", line);
		case_again(f, line + 6);
	} else if (strncmp(line, "plan", 4) == 0 && (!line[4] || line[4] == ' ')) {
		str_addf(&f->written, "%s\n", line);
		case_end(f, false);
		char *options = arena_strndup(&f->now.arena, line + 4, strlen(line + 4));
		ok(case_options(&f->now, options), "%s:%d: %s: %s", f->path, f->line, f->title, line);
		f->now.plan = f->now.net ? plan_build(net_model(f->now.net), &f->now.o, &net_error) : NULL;
		if (f->each && f->now.plan)
			f->each(f->now.plan);
	} else {
		case_check(f, line);
	}
}

NET_OK void cases_run(const char *path, void (*each)(const struct plan *p))
{
	struct case_file f = { .path = path, .each = each };
	char whole[1024];
	struct str text = { 0 };
	int byte;
	snprintf(whole, sizeof(whole), "%s/%s", getenv("srcdir") ? getenv("srcdir") : "..", path);
	FILE *in = fopen(whole, "r");
	if (!ok(in != NULL, "%s is there", whole))
		return;
	while ((byte = getc(in)) != EOF)
		str_add(&text, &(char){ (char)byte }, 1);
	fclose(in);
	str_add(&text, "", 1);
	for (const char *p = text.p; *p;) {
		char line[2048];
		size_t n = strcspn(p, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, p);
		f.line++;
		p += n + (p[n] == '\n');
		if (strncmp(line, "== ", 3) == 0) {
			snprintf(f.title, sizeof(f.title), "%.100s", line + 3);
			str_addf(&f.written, "%s\n", line);
			f.model = p;
			p = case_model(&f, p);
			p += strspn(p, " \t\n");
			for (const char *c = f.model; c < p; c++)
				f.line += *c == '\n';
			str_add(&f.written, f.model, (size_t)(p - f.model));
		} else {
			case_line(&f, line);
		}
	}
	case_end(&f, true);
	in = getenv("GENERATE") ? fopen(whole, "w") : NULL;
	if (in) {
		fwrite(f.written.p, 1, f.written.n, in);
		fclose(in);
	}
	str_free(&f.written);
	str_free(&text);
}

#endif
