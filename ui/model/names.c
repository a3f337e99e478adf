/* Short names of operators and layers. */
#include "config.h"

#include "ui/model/private.h"

#include "base/hash.h"
#include "plan/value/short_name.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *app_op_short(struct app *app, struct text op)
{
	static const struct {
		const char *full, *brief;
	} shorter[] = {
		{ "DequantizeLinear", "Dequant" },
		{ "QuantizeLinear", "Quant" },
		{ "Normalization", "Norm" },
		{ "Average", "Avg" },
		{ "Convolution", "Conv" },
		{ "Quantize", "Quant" },
		{ "Linear", "Lin" },
	};
	const char *s = app_clean(app, op);
	for (size_t i = 0; i < sizeof(shorter) / sizeof(*shorter); i++) {
		const char *at = strstr(s, shorter[i].full);
		if (at)
			s = arena_printf(&app->scratch, "%.*s%s%s", (int)(at - s), s, shorter[i].brief,
				at + strlen(shorter[i].full));
	}
	return s;
}

const char *app_name_short(struct app *app, const struct plan_layer *l)
{
	const struct plan *p = app_plan(app);
	/* false for a layer of a body */
	bool known = p && l->index >= 0 && l->index < p->layer_count && l == &p->layers[l->index];
	return plan_name_short(&app->scratch, l, known ? app->name_detail[l->index] : SHORT_LEAST);
}

const char *app_name(struct app *app, int layer)
{
	return plan_name_short(&app->scratch, app_layer(app, layer), app->name_detail[layer]);
}

/* Each round compares all listed names and lengthens those that are not unique. */
void app_names_renew(struct app *app)
{
	size_t layers = (size_t)app->place_count;
	app->name_detail = base_realloc(app->name_detail, layers + 1);
	memset(app->name_detail, SHORT_LEAST, layers + 1);
	for (int round = SHORT_LEAST; round < SHORT_WHOLE; round++) {
		struct arena names = { 0 }, one = { 0 }; /* a model may have a million */
		struct hash seen = { 0 };
		bool *twice = base_calloc((size_t)app->listed_count + 1, sizeof(bool));
		size_t widest = 0;
		for (int row = 0; row < app->listed_count; row++) {
			int i = app->listed[row];
			struct text name = text_of(
				plan_name_short(&one, app_layer(app, i), app->name_detail[i]));
			int64_t before = hash_find(&seen, name);
			widest = name.n > widest ? name.n : widest;
			if (before >= 0)
				twice[before] = twice[row] = true;
			else
				*hash_at(&seen,
					(struct text){ arena_strndup(&names, name.p, name.n), name.n }) = row;
			arena_clear(&one);
		}
		for (int row = 0; row < app->listed_count; row++)
			app->name_detail[app->listed[row]] += twice[row];
		app->name_columns = widest < APP_NAME_COLUMNS_MAX ? (int)widest : APP_NAME_COLUMNS_MAX;
		free(twice);
		hash_free(&seen);
		arena_free(&names);
		arena_free(&one);
	}
}
