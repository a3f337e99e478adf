/* Peaks of a device as a struct, as text and as JSON. Unknown ones are NaN. */
#include "config.h"

#include "analyze/roof/peaks.h"

#include <math.h>
#include <stdio.h>

struct peaks peaks_unknown(void)
{
	struct peaks p = { .bandwidth_bytes_s = NAN, .clock_share = 1, .bandwidth_share = 1,
		.clock_mhz = NAN };
	for (int i = 0; i < DTYPE_COUNT; i++)
		p.flops[i] = p.matrix_flops[i] = NAN;
	return p;
}

int peaks_set(struct peaks *p, struct text dtype, bool matrix, double flops)
{
	double *to = matrix ? p->matrix_flops : p->flops;
	enum dtype type = dtype_parse(dtype);
	if (!(flops > 0) || !isfinite(flops))
		return -1;
	if (text_is(dtype, "f8"))
		to[DTYPE_F8E4M3] = to[DTYPE_F8E5M2] = flops;
	else if (type == DTYPE_UNKNOWN)
		return -1;
	else
		to[type] = flops;
	if (type == DTYPE_S8) /* the same units, with and without a sign */
		to[DTYPE_U8] = flops;
	return 0;
}

bool peaks_have_matrix(const struct peaks *p)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!isnan(p->matrix_flops[i]))
			return true;
	return false;
}

bool peaks_known(const struct peaks *p)
{
	return !isnan(p->bandwidth_bytes_s);
}

static void rate_add(struct str *out, const char *before, const char *name, const char *mark, double rate,
	const char *unit)
{
	char number[STR_QUANTITY];
	str_addf(out, "%s%s %s%s%s", before, name, mark, str_count(number, rate), unit);
}

static void flops_describe(const double *flops, const char *before, struct str *out)
{
	for (int i = 0; i < DTYPE_COUNT; i++) {
		if (isnan(flops[i]))
			continue;
		rate_add(out, before, dtype_name((enum dtype)i), "", flops[i], "FLOP/s");
		before = ", ";
	}
}

static int streams_known(const struct peaks *p)
{
	int known = !isnan(p->bandwidth_bytes_s);
	for (int i = 0; i < p->level_count; i++)
		known += !isnan(p->level[i].bandwidth_bytes_s);
	return known;
}

static bool any_known(const struct peaks *p)
{
	bool known = streams_known(p) > 0;
	for (int i = 0; i < DTYPE_COUNT; i++)
		known |= !isnan(p->flops[i]) || !isnan(p->matrix_flops[i]);
	return known;
}

bool peaks_have_gaps(const struct peaks *p)
{
	return any_known(p) && streams_known(p) < 1 + p->level_count;
}

static void stream_add(struct str *out, const char *name, double rate, bool estimated)
{
	if (isnan(rate))
		str_addf(out, "%s%s -", out->n ? ", " : "", name);
	else
		rate_add(out, out->n ? ", " : "", name, estimated ? "~" : "", rate, "B/s");
}

void peaks_describe(const struct peaks *p, struct str *out)
{
	if (!any_known(p))
		return;
	stream_add(out, "memory", p->bandwidth_bytes_s, false);
	for (int i = p->level_count - 1; i >= 0; i--) {
		char name[16];
		snprintf(name, sizeof(name), "L%d", p->level[i].level);
		stream_add(out, name, p->level[i].bandwidth_bytes_s, p->level[i].estimated);
	}
	flops_describe(p->flops, out->n ? "; " : "", out);
	flops_describe(p->matrix_flops, out->n ? "; on matrix units " : "on matrix units ", out);
}

static json_t *flops_json(const double *flops)
{
	json_t *o = json_object();
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!isnan(flops[i]))
			json_object_set_new(o, dtype_name((enum dtype)i), json_number_or_null(flops[i]));
	return o;
}

json_t *peaks_json(const struct peaks *p)
{
	if (!any_known(p))
		return json_null();
	json_t *levels = json_array();
	for (int i = 0; i < p->level_count; i++)
		json_array_append_new(levels,
			json_pack("{s:i, s:o, s:o, s:b}", "level", p->level[i].level, "bytes",
				json_number_or_null(p->level[i].bytes), "bandwidth_bytes_s",
				json_number_or_null(p->level[i].bandwidth_bytes_s), "estimated",
				p->level[i].estimated));
	return json_pack("{s:o, s:o, s:o, s:o}", "bandwidth_bytes_s",
		json_number_or_null(p->bandwidth_bytes_s), "levels", levels, "flops", flops_json(p->flops),
		"matrix_flops", flops_json(p->matrix_flops));
}

static void flops_read(double *flops, const json_t *o)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		flops[i] = json_number_or_nan(json_object_get(o, dtype_name((enum dtype)i)));
}

struct peaks peaks_from_json(const json_t *o)
{
	struct peaks p = peaks_unknown();
	const json_t *levels = json_object_get(o, "levels"), *one;
	size_t i;
	p.bandwidth_bytes_s = json_number_or_nan(json_object_get(o, "bandwidth_bytes_s"));
	json_array_foreach(levels, i, one)
		if (p.level_count < PEAK_LEVELS)
			p.level[p.level_count++] = (struct peak_level){ (int)json_int_at(one, "level", 0),
				json_number_or_nan(json_object_get(one, "bytes")),
				json_number_or_nan(json_object_get(one, "bandwidth_bytes_s")),
				json_is_true(json_object_get(one, "estimated")) };
	flops_read(p.flops, json_object_get(o, "flops"));
	flops_read(p.matrix_flops, json_object_get(o, "matrix_flops"));
	return p;
}
