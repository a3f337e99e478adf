/* Strings of an ONNX file for all of the loader: views, copies, and warnings that show them. */
#include "config.h"

#include "model/load.h"

#include <stdarg.h>
#include <stdio.h>

#define SHOWN_MOST 120

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

struct text load_copy(struct loader *l, struct text t)
{
	return t.n ? (struct text){ arena_strndup(l->arena, t.p, t.n), t.n } : TEXT("");
}

struct text load_text(struct loader *l, ProtobufCBinaryData bytes)
{
	return load_copy(l, load_view(bytes));
}

struct text load_domain(ProtobufCBinaryData bytes)
{
	struct text domain = load_view(bytes);
	return text_is(domain, "ai.onnx") ? TEXT("") : domain;
}
