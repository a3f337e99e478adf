#include "config.h"

#include "model/load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The newest versions of the format and of its operator set that were known when this was written. */
#define KNOWN_IR 13
#define KNOWN_OPSET 27
#define OPSETS_MOST 1000
#define SHOWN_MOST 120

/* The newest operator set released with each version of the format: what a file most likely means that forgot
 * to say. Before version 3 there was nothing to say. */
static const int newest_opset[KNOWN_IR + 1] = { 1, 1, 1, 8, 9, 10, 11, 14, 18, 20, 22, 23, 24, 26 };

void load_warn(struct loader *l, const char *fmt, ...)
{
	if (l->warning_count++ >= LOAD_WARNINGS)
		return;
	char line[ERROR_TEXT_SIZE];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	l->warnings[l->warning_count - 1] = text_clean(l->arena, text_of(line));
}

const char *load_shown(struct loader *l, struct text name)
{
	bool longer = name.n > SHOWN_MOST;
	if (longer)
		name.n = SHOWN_MOST;
	const char *clean = text_clean(&l->scratch, name);
	return longer ? arena_printf(&l->scratch, "%s...", clean) : clean;
}

struct text load_view(ProtobufCBinaryData bytes)
{
	return bytes.len ? (struct text){ (const char *)bytes.data, bytes.len } : TEXT("");
}

struct text load_text(struct loader *l, ProtobufCBinaryData bytes)
{
	return (struct text){ arena_strndup(l->arena, (const char *)bytes.data, bytes.len), bytes.len };
}

/* ---- operator sets ---- */

static bool uses_plain_domain(const struct graph *g)
{
	for (int i = 0; i < g->node_count; i++)
		if (g->nodes[i].domain.n == 0)
			return true;
	return false;
}

static void load_opset(struct loader *l, const Onnx__OperatorSetIdProto *p)
{
	struct model *m = l->m;
	struct text domain = load_text(l, p->domain);
	if (text_is(domain, "ai.onnx"))
		domain = TEXT("");
	if (p->version < 1) {
		load_warn(l, "operator set \"%s\" has version %" PRId64 ", ignored", load_shown(l, domain),
			p->version);
		return;
	}
	int i = 0;
	while (i < m->opset_count && !text_equal(m->opsets[i].domain, domain))
		i++;
	if (i < m->opset_count && m->opsets[i].version != p->version)
		load_warn(l, "operator set \"%s\" is imported twice, the newer version is taken",
			load_shown(l, domain));
	if (i == m->opset_count)
		m->opsets[m->opset_count++] = (struct opset){ domain, p->version };
	else if (m->opsets[i].version < p->version)
		m->opsets[i].version = p->version;
}

static int load_opsets(struct loader *l, const Onnx__ModelProto *p)
{
	struct model *m = l->m;
	if (p->n_opset_import > OPSETS_MOST)
		return error_set(l->err, "%zu operator sets are imported, more than %d", p->n_opset_import,
			OPSETS_MOST);
	m->opsets = ARENA_ARRAY(l->arena, struct opset, p->n_opset_import + 1);
	for (size_t i = 0; i < p->n_opset_import; i++)
		load_opset(l, p->opset_import[i]);
	int64_t version = model_opset(m, TEXT(""));
	if (version > KNOWN_OPSET)
		load_warn(l, "operator set %" PRId64 " is newer than what is known here (%d)", version,
			KNOWN_OPSET);
	if (version == 0 && uses_plain_domain(m->graph)) {
		int64_t ir = m->ir_version < 0 ? 0 : m->ir_version > KNOWN_IR ? KNOWN_IR : m->ir_version;
		m->opsets[m->opset_count++] = (struct opset){ TEXT(""), newest_opset[ir] };
		load_warn(l, "the operator set is not given, %d is assumed", newest_opset[ir]);
	}
	return 0;
}

/* Every node's operator set, bodies' nodes included. */
static void set_opsets(const struct model *m, struct graph *g)
{
	for (int i = 0; i < g->node_count; i++) {
		struct node *n = &g->nodes[i];
		n->opset = model_opset(m, n->domain);
		for (int j = 0; j < n->attribute_count; j++) {
			if (n->attributes[j].graph)
				set_opsets(m, n->attributes[j].graph);
		}
	}
}

/* ---- the model ---- */

static void load_ir_version(struct loader *l, const Onnx__ModelProto *p)
{
	l->m->ir_version = p->ir_version;
	if (p->ir_version > KNOWN_IR)
		load_warn(l, "format version (IR) %" PRId64 " is newer than what is known here (%d)",
			p->ir_version, KNOWN_IR);
	else if (p->ir_version < 1)
		load_warn(l, "the format version (IR) is not given");
}

/* An operator that the model defines itself stays unknown: its body is not put in its place. */
static void load_functions(struct loader *l, const Onnx__ModelProto *p)
{
	if (p->n_functions)
		load_warn(l,
			"%zu operators are defined by the model itself (\"%s\" ...); they are not expanded",
			p->n_functions, load_shown(l, load_view(p->functions[0]->name)));
}

static void load_finish_warnings(struct loader *l)
{
	int kept = l->warning_count < LOAD_WARNINGS ? l->warning_count : LOAD_WARNINGS;
	l->m->warnings = ARENA_ARRAY(l->arena, char *, kept + 1);
	memcpy(l->m->warnings, l->warnings, (size_t)kept * sizeof(*l->warnings));
	l->m->warning_count = kept;
	if (l->warning_count > kept)
		l->m->warnings[l->m->warning_count++] =
			arena_printf(l->arena, "... and %d more", l->warning_count - kept);
}

static int load_model(struct loader *l, const struct skim *s)
{
	const Onnx__ModelProto *p = s->model;
	struct model *m = l->m;
	m->file_bytes = (int64_t)s->file_bytes;
	m->producer = load_text(l, p->producer_name);
	m->producer_version = load_text(l, p->producer_version);
	m->doc = load_text(l, p->doc_string);
	load_ir_version(l, p);
	m->graph = load_graph(l, p->graph, NULL);
	if (!m->graph || load_opsets(l, p) != 0)
		return -1;
	set_opsets(m, m->graph);
	load_functions(l, p);
	load_finish_warnings(l);
	return 0;
}

struct model *model_load(const char *path, struct error *err)
{
	struct skim s;
	if (skim_open(&s, path, err) != 0)
		return NULL;
	struct model *m = base_calloc(1, sizeof(*m));
	struct loader l = { .m = m, .arena = &m->arena, .err = err };
	m->path = arena_strndup(&m->arena, path, strlen(path));
	int rc = load_model(&l, &s);
	arena_free(&l.scratch);
	skim_close(&s);
	if (rc != 0) {
		error_context(err, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
		model_free(m);
		return NULL;
	}
	return m;
}
