/* The inks of `dark` and `light` begin with the hues of Okabe and Ito, "Color Universal Design" (2008):
 * bluish green, yellow, vermillion, sky blue, reddish purple. Their lightness was moved until, simulated for
 * protanopia and deuteranopia (Machado, Oliveira and Fernandes 2009, severity 1), every two differ clearly
 * and all are readable on the background; t_theme checks both. The inks of heat follow cividis (Nunez,
 * Anderton and Renslow 2018). */
#include "config.h"

#include "ui/screen/theme.h"

#include "base/word.h"
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#define NONE { 0, -1 } /* the terminal's own colour */

/* A role: its inks on dark and on light backgrounds, and on 8 colours (-1: the terminal's own). */
static const struct role_row {
	const char *name;
	struct { uint32_t rgb; int16_t index; /* of 256 colours */ } dark, light;
	int8_t basic;
	uint8_t marks[3]; /* without colours, with 8 or 16, with more */
} roles[ROLE_COUNT] = {
	[STYLE_NORMAL] = { "text", NONE, NONE, -1, { 0, 0, 0 } },
	[STYLE_DIM] = { "dim", { 0x8b949e, 245 }, { 0x57606a, 241 }, -1, { LOOK_DIM, LOOK_DIM, 0 } },
	[STYLE_BOLD] = { "strong", NONE, NONE, -1, { LOOK_BOLD, LOOK_BOLD, LOOK_BOLD } },
	[STYLE_REVERSE] = { "mark", NONE, NONE, -1, { LOOK_REVERSE, LOOK_REVERSE, LOOK_REVERSE } },
	[STYLE_GOOD] = { "good", { 0x00a674, 35 }, { 0x005f46, 23 }, 2, { 0, 0, 0 } },
	[STYLE_WARN] = { "warning", { 0xf0e442, 220 }, { 0x8d6e0a, 130 }, 3, { LOOK_BOLD, 0, 0 } },
	[STYLE_BAD] = { "bad", { 0xe8641b, 202 }, { 0xa41f00, 124 }, 1,
		{ LOOK_BOLD | LOOK_UNDERLINE, LOOK_BOLD, LOOK_BOLD } },
	[STYLE_ACCENT] = { "accent", { 0x39b7f9, 39 }, { 0x0072b2, 25 }, 6, { 0, 0, 0 } },
	[STYLE_CRITICAL] = { "critical", { 0xe982ba, 175 }, { 0xa8437f, 126 }, 5,
		{ LOOK_BOLD, LOOK_BOLD, LOOK_BOLD } },
	[STYLE_HEADER] = { "header", { 0x79c0ff, 111 }, { 0x0550ae, 25 }, 4,
		{ LOOK_BOLD | LOOK_UNDERLINE, LOOK_BOLD, LOOK_BOLD } },
	[STYLE_BUSY] = { "busy", { 0x39b7f9, 39 }, { 0x0072b2, 25 }, 6, { 0, 0, 0 } },
	[STYLE_ESTIMATE] = { "estimate", { 0xb9a3f0, 147 }, { 0x6b46c1, 62 }, -1, { 0, 0, 0 } },
	[STYLE_ROUGH] = { "rough", { 0xd9a441, 179 }, { 0x8a5a00, 94 }, 3, { LOOK_BOLD, 0, 0 } },
	[STYLE_HEAT_LOW] = { "heat-low", { 0x85898f, 245 }, { 0x74716a, 242 }, -1, { 0, 0, 0 } },
	[STYLE_HEAT_MIDDLE] = { "heat-middle", { 0xbcae6c, 143 }, { 0x4d566b, 240 }, 6, { 0, 0, 0 } },
	[STYLE_HEAT_HIGH] = { "heat-high", { 0xffe945, 227 }, { 0x00224e, 17 }, 3,
		{ LOOK_BOLD, 0, LOOK_BOLD } },
	[ROLE_SELECTION] = { "selection", { 0x17263b, 235 }, { 0xe9f0f8, 255 }, -1,
		{ LOOK_REVERSE, LOOK_REVERSE, 0 } },
};

enum kind { KIND_AUTO, KIND_DARK, KIND_LIGHT, KIND_ANSI, KIND_MONO };

static const struct {
	const char *name;
	enum kind kind;
} themes[] = {
	{ "auto", KIND_AUTO },
	{ "dark", KIND_DARK },
	{ "light", KIND_LIGHT },
	{ "ansi", KIND_ANSI },
	{ "mono", KIND_MONO },
};

#define THEMES ((int)(sizeof(themes) / sizeof(*themes)))

const char *theme_name_at(int number)
{
	return number >= 0 && number < THEMES ? themes[number].name : NULL;
}

const char *theme_role_at(int number)
{
	return number >= 0 && number < ROLE_COUNT ? roles[number].name : NULL;
}

/* ---- colours ---- */

static const char *const color_names[16] = { "black", "red", "green", "yellow", "blue", "magenta", "cyan",
	"white", "bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue",
	"bright-magenta", "bright-cyan", "bright-white" };

uint32_t theme_index_rgb(int index)
{
	static const uint32_t basic[16] = { 0x171421, 0xc01c28, 0x26a269, 0xa2734c, 0x2a7bde, 0xa347ba,
		0x2aa1b3, 0xd0cfcc, 0x5e5c64, 0xf66151, 0x33d17a, 0xe9ad0c, 0x5c9bef, 0xc061cb, 0x33c7de,
		0xffffff };
	static const uint8_t steps[6] = { 0, 95, 135, 175, 215, 255 };
	if (index < 16)
		return basic[index & 15];
	if (index >= 232)
		return (uint32_t)(8 + 10 * (index - 232)) * 0x10101u;
	int i = index - 16;
	return (uint32_t)steps[i / 36] << 16 | (uint32_t)steps[i / 6 % 6] << 8 | steps[i % 6];
}

static int part(uint32_t rgb, int shift)
{
	return (int)(rgb >> shift & 255);
}

/* The nearest of the 240 colours that no user changes. */
static int nearest_of_256(uint32_t rgb)
{
	int best = 16;
	long least = -1;
	for (int i = 16; i < 256; i++) {
		uint32_t one = theme_index_rgb(i);
		long r = part(one, 16) - part(rgb, 16), g = part(one, 8) - part(rgb, 8),
			b = part(one, 0) - part(rgb, 0), distance = 3 * r * r + 6 * g * g + b * b;
		if (least < 0 || distance < least) {
			least = distance;
			best = i;
		}
	}
	return best;
}

/* By hue; greys are white or black. */
static int nearest_of_8(uint32_t rgb)
{
	int r = part(rgb, 16), g = part(rgb, 8), b = part(rgb, 0);
	int most = r > g ? r : g, least = r < g ? r : g;
	most = b > most ? b : most;
	least = b < least ? b : least;
	if (most - least < 32)
		return most > 100 ? 7 : 0;
	int middle = (most + least) / 2;
	return (r > middle) | (g > middle) << 1 | (b > middle) << 2;
}

int32_t theme_nearest(struct ink ink, int colors)
{
	bool rgb = ink.color >= INK_RGB;
	uint32_t value = (uint32_t)ink.color & 0xffffff;
	if (ink.color == INK_DEFAULT || colors < 8)
		return INK_DEFAULT;
	if (colors >= COLORS_ALL || (!rgb && ink.color < colors))
		return ink.color;
	if (colors >= 256)
		return !rgb ? ink.color : ink.index != INK_NEAREST ? ink.index : nearest_of_256(value);
	if (ink.basic != INK_NEAREST)
		return ink.basic;
	if (!rgb && ink.color < 16)
		return ink.color - 8;
	return nearest_of_8(rgb ? value : theme_index_rgb(ink.color));
}

static int color_parse(struct text word, int32_t *color)
{
	int64_t number;
	for (int i = 0; i < 16; i++)
		if (text_is(word, color_names[i])) {
			*color = i;
			return 0;
		}
	*color = INK_DEFAULT;
	if (text_is(word, "default"))
		return 0;
	if (text_to_int64(word, &number) && number >= 0 && number < 256) {
		*color = (int32_t)number;
		return 0;
	}
	if (word.n != 7 || word.p[0] != '#')
		return -1;
	uint32_t rgb = 0;
	for (size_t i = 1; i < word.n; i++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF", *at = strchr(digits, word.p[i]);
		if (!word.p[i] || !at)
			return -1;
		rgb = rgb << 4 | (uint32_t)((at - digits) % 16);
	}
	*color = (int32_t)(INK_RGB | rgb);
	return 0;
}

/* ---- a look, as the configuration has it: "yellow bold", "black on #e69f00", "reverse" ---- */

static const struct {
	const char *name;
	uint8_t mark;
} mark_names[] = { { "bold", LOOK_BOLD }, { "dim", LOOK_DIM }, { "underline", LOOK_UNDERLINE },
	{ "reverse", LOOK_REVERSE } };

#define MARK_NAMES ((int)(sizeof(mark_names) / sizeof(*mark_names)))

static int word_unknown(struct text word, struct error *err)
{
	char copy[40];
	snprintf(copy, sizeof(copy), "%.*s", word.n > 30 ? 30 : (int)word.n, word.p);
	struct word_nearest nearest = { .word = copy };
	for (int i = 0; i < 16; i++)
		word_try(&nearest, color_names[i]);
	for (int i = 0; i < MARK_NAMES; i++)
		word_try(&nearest, mark_names[i].name);
	word_try(&nearest, "default");
	return error_set(err, "\"%s\" is not a colour%s%s%s; give a name, 0 to 255 or #rrggbb, then bold, "
		"dim, underline, reverse or \"on\" and the background",
		copy, nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
		nearest.best ? "?" : "");
}

static bool mark_parse(struct text word, uint8_t *marks)
{
	for (int i = 0; i < MARK_NAMES; i++)
		if (text_is(word, mark_names[i].name)) {
			*marks |= mark_names[i].mark;
			return true;
		}
	return false;
}

/* Without colours, what the text says about them is lost, so the marks of the role stay if it has none. */
static int look_parse(struct look *out, const char *text, struct error *err)
{
	struct look look = { { INK_DEFAULT, -1, -1 }, { INK_DEFAULT, -1, -1 }, { out->marks[0], 0, 0 } };
	uint8_t marks = 0;
	struct ink *to = &look.ink;
	int given = 0;
	for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
		struct text word = { p, strcspn(p, " ") };
		p += word.n;
		if (text_is(word, "on") && to == &look.ink) {
			to = &look.ground;
			given = 0;
		} else if (!mark_parse(word, &marks)) {
			if (given++)
				return error_set(
					err, "two colours; \"on\" stands before that of the background");
			if (color_parse(word, &to->color))
				return word_unknown(word, err);
			to->index = to->basic = to->color == INK_DEFAULT ? -1 : INK_NEAREST;
		}
	}
	if (to == &look.ground && !given)
		return error_set(err, "a colour is missing after \"on\"");
	look.marks[0] = marks ? marks : look.marks[0];
	look.marks[1] = look.marks[2] = marks;
	*out = look;
	return 0;
}

/* ---- a theme ---- */

static struct look look_of(const struct role_row *row, enum kind kind, bool is_ground)
{
	bool few = kind == KIND_ANSI, light = kind == KIND_LIGHT;
	uint32_t rgb = light ? row->light.rgb : row->dark.rgb;
	int16_t index = light ? row->light.index : row->dark.index;
	struct ink none = { INK_DEFAULT, -1, -1 }, ink = { (int32_t)(INK_RGB | rgb), index, row->basic };
	if (few)
		ink = (struct ink){ row->basic, row->basic, row->basic };
	else if (index < 0 || kind == KIND_MONO)
		ink = none;
	struct look look = { is_ground ? none : ink, is_ground ? ink : none,
		{ row->marks[0], row->marks[1], few ? row->marks[1] : row->marks[2] } };
	return look;
}

static int base_make(struct theme *out, const char *name, bool light, struct error *err)
{
	struct word_nearest nearest = { .word = name };
	int i = 0;
	while (i < THEMES && strcmp(themes[i].name, name) != 0)
		word_try(&nearest, themes[i++].name);
	if (i == THEMES)
		return error_set(err, "there is no theme \"%.40s\"%s%s%s; themes are auto, dark, light, "
			"ansi, mono", name, nearest.best ? "; did you mean " : "",
			nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	enum kind kind = themes[i].kind;
	if (kind == KIND_AUTO)
		kind = light ? KIND_LIGHT : KIND_DARK;
	*out = (struct theme){ .name = themes[i].name, .colored = kind != KIND_MONO,
		.page_ink = kind == KIND_LIGHT ? 0x1f2328 : 0xe6edf3,
		.page_ground = kind == KIND_LIGHT ? 0xffffff : 0x0d1117 };
	for (int r = 0; r < ROLE_COUNT; r++)
		out->looks[r] = look_of(&roles[r], kind, r == ROLE_SELECTION);
	return 0;
}

static int role_set(struct theme *t, const struct config_word *word, struct error *err)
{
	struct word_nearest nearest = { .word = word->name };
	for (int i = 0; i < ROLE_COUNT; i++) {
		if (strcmp(roles[i].name, word->name) == 0)
			return look_parse(&t->looks[i], word->value, err) ?
				error_context(err, "%s", word->name) : 0;
		word_try(&nearest, roles[i].name);
	}
	struct str all = { 0 };
	for (int i = 0; i < ROLE_COUNT && !nearest.best; i++)
		str_addf(&all, "%s%s", i ? ", " : "; roles are ", roles[i].name);
	error_set(err, "there is no role \"%.40s\"%s%s%s%s", word->name,
		nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
		nearest.best ? "?" : "", all.n ? all.p : "");
	str_free(&all);
	return -1;
}

/* The entry of the base, or NULL. */
static const struct config_word *base_of(const struct config_word *words, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[i].name, "base") == 0)
			return &words[i];
	return NULL;
}

bool theme_is_auto(const struct config_word *words, int count)
{
	const struct config_word *base = base_of(words, count);
	return !base || strcmp(base->value, "auto") == 0;
}

static int at_line(const struct config_word *word, struct error *err)
{
	return word->line ? error_context(err, "%d: theme", word->line) : error_context(err, "theme");
}

int theme_make(struct theme *out, const struct config_word *words, int count, bool light, struct error *err)
{
	const struct config_word *base = base_of(words, count);
	if (base_make(out, base ? base->value : "auto", light, err))
		return at_line(base, err);
	for (int i = 0; i < count; i++)
		if (&words[i] != base && role_set(out, &words[i], err))
			return at_line(&words[i], err);
	return 0;
}

/* ---- on a terminal ---- */

struct shade theme_shade(const struct theme *t, enum style style, bool selected, int colors)
{
	const struct look *look = &t->looks[style], *over = &t->looks[ROLE_SELECTION];
	const struct look *text = &t->looks[STYLE_NORMAL];
	colors = t->colored ? colors : COLORS_NONE;
	int column = colors < 8 ? 0 : colors < 256 ? 1 : 2;
	struct shade s = { theme_nearest(look->ink.color < 0 ? text->ink : look->ink, colors),
		theme_nearest(look->ground.color < 0 ? text->ground : look->ground, colors),
		look->marks[column] };
	/* of 8 colours a bright one is bold */
	if (colors == 8 && look->ink.color >= 8 && look->ink.color < 16)
		s.marks |= LOOK_BOLD;
	if (!selected)
		return s;
	int32_t ink = theme_nearest(over->ink, colors), ground = theme_nearest(over->ground, colors);
	s.ink = ink != INK_DEFAULT ? ink : s.ink;
	s.ground = ground != INK_DEFAULT ? ground : s.ground;
	s.marks |= over->marks[column];
	if (s.marks & LOOK_REVERSE)
		s.marks &= ~(unsigned)LOOK_DIM;
	return s;
}

static void add_color(struct str *out, int32_t color, int base)
{
	if (color == INK_DEFAULT)
		return;
	if (color >= INK_RGB)
		str_addf(out, ";%d;2;%d;%d;%d", base + 8, part((uint32_t)color, 16), part((uint32_t)color, 8),
			part((uint32_t)color, 0));
	else if (color < 8)
		str_addf(out, ";%d", base + (int)color);
	else if (color < 16)
		str_addf(out, ";%d", base + 52 + (int)color);
	else
		str_addf(out, ";%d;5;%d", base + 8, (int)color);
}

void theme_sgr(struct str *out, struct shade s)
{
	static const char *const codes[] = { ";1", ";2", ";4", ";7" };
	str_puts(out, "\033[0");
	for (int i = 0; i < 4; i++)
		str_puts(out, s.marks & 1u << i ? codes[i] : "");
	add_color(out, s.ink, 30);
	add_color(out, s.ground, 40);
	str_puts(out, "m");
}

static bool is_plain(struct shade s)
{
	return s.ink == INK_DEFAULT && s.ground == INK_DEFAULT && !s.marks;
}

void theme_print(const struct canvas *c, const struct theme *t, int colors, struct str *out)
{
	for (int y = 0; y < c->height; y++) {
		const struct cell *row = &c->cells[(size_t)y * (size_t)c->width];
		struct shade now = { INK_DEFAULT, INK_DEFAULT, 0 };
		int last = c->width;
		while (last > 0 && row[last - 1].code == ' ' && !row[last - 1].mark &&
			is_plain(theme_shade(t, row[last - 1].style, row[last - 1].selected, colors)))
			last--;
		for (int x = 0; x < last; x++) {
			struct shade s = theme_shade(t, row[x].style, row[x].selected, colors);
			if (row[x].columns == 0)
				continue;
			if (s.ink != now.ink || s.ground != now.ground || s.marks != now.marks)
				theme_sgr(out, s);
			now = s;
			canvas_encode(out, row[x].code);
			if (row[x].mark)
				canvas_encode(out, row[x].mark);
		}
		if (!is_plain(now))
			str_puts(out, "\033[m");
		str_puts(out, "\n");
	}
}

/* ---- the background ---- */

int theme_light_by_env(const char *colorfgbg)
{
	int64_t index;
	const char *at = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
	if (!at || !text_to_int64(text_of(at + 1), &index) || index < 0 || index > 15)
		return -1;
	return index == 7 || index > 8;
}

int theme_light_by_color(uint32_t rgb)
{
	return 299 * part(rgb, 16) + 587 * part(rgb, 8) + 114 * part(rgb, 0) > 127500;
}
