/* Themes: the table of roles, what the configuration may say, terminals with few colours, and that all inks
 * are readable and differ for readers who see no red or no green. */
#include "config.h"

#include "config/config.h"
#include "ui/screen/theme.h"

#include "tap.h"

#include <stdlib.h>


static struct theme made(const char *base, const char *role, const char *look)
{
	struct config_word words[] = { { "base", base, 0 }, { role, look, 0 } };
	struct theme t = { 0 };
	struct error err = ERROR_NONE;
	if (theme_make(&t, words, role ? 2 : 1, false, &err))
		ok(false, "theme %s, %s: %s", base, role ? role : "", err.text);
	return t;
}

static void refused(const char *role, const char *look, int line, const char *want)
{
	struct config_word word = { role, look, line };
	struct theme t;
	struct error err = ERROR_NONE;
	is_int(theme_make(&t, &word, 1, false, &err), -1, "%s: %s is refused", role, look);
	ok(strstr(err.text, want), "says \"%s\": %s", want, err.text);
}

static void test_table(void)
{
	for (int i = 0; theme_role_at(i); i++)
		for (int k = 0; k < i; k++)
			if (strcmp(theme_role_at(i), theme_role_at(k)) == 0)
				ok(false, "role %s stands twice", theme_role_at(i));
	is_str(theme_role_at(ROLE_COUNT), NULL, "the roles end");
	is_str(theme_role_at(ROLE_SELECTION), "selection", "the last one");
	is_str(theme_name_at(0), "auto", "the first theme");
	struct theme t = made("auto", NULL, NULL);
	is_int(t.page_ground, 0x0d1117, "auto is dark");
	struct error err;
	theme_make(&t, NULL, 0, true, &err);
	is_int(t.page_ground, 0xffffff, "or light, where the background is");
	ok(theme_is_auto(NULL, 0), "without a word, the background decides");
	ok(!theme_is_auto(&(struct config_word){ "base", "dark", 0 }, 1), "not where it is said");
	for (int i = 0; theme_name_at(i); i++)
		made(theme_name_at(i), "bad", "red on 16 bold");
}

/* The manual has all of them. */
static void test_manual(void)
{
	const char *dir = getenv("srcdir");
	char path[512], want[64];
	static char page[1 << 18];
	snprintf(path, sizeof(path), "%s/man/benanza.yaml.5.in", dir ? dir : "..");
	FILE *f = fopen(path, "r");
	if (!ok(f != NULL, "%s is there", path))
		return;
	page[fread(page, 1, sizeof(page) - 1, f)] = '\0';
	fclose(f);
	for (int i = 0; theme_name_at(i) || theme_role_at(i); i++)
		for (int role = 0; role < 2; role++) {
			const char *name = role ? theme_role_at(i) : theme_name_at(i);
			size_t n = 0;
			for (const char *p = ".B "; *p; p++)
				want[n++] = *p;
			for (const char *p = name ? name : ""; *p && n < 60; p++) {
				if (*p == '-')
					want[n++] = '\\';
				want[n++] = *p;
			}
			want[n++] = '\n';
			want[n] = '\0';
			if (name && !strstr(page, want))
				ok(false, "the manual has %s", name);
		}
}

static void test_words(void)
{
	struct shade s;
	struct theme t = made("dark", "warning", "208 bold");
	s = theme_shade(&t, STYLE_WARN, false, 256);
	ok(s.ink == 208 && s.ground == INK_DEFAULT && s.marks == LOOK_BOLD, "an index and a mark");
	t = made("dark", "warning", "black on #E69f00");
	s = theme_shade(&t, STYLE_WARN, false, COLORS_ALL);
	ok(s.ink == 0 && s.ground == (INK_RGB | 0xe69f00) && !s.marks, "a name on rgb");
	t = made("dark", "warning", "bright-red");
	s = theme_shade(&t, STYLE_WARN, false, 8);
	ok(s.ink == 1 && s.marks == LOOK_BOLD, "of 8 colours a bright one is bold");
	s = theme_shade(&t, STYLE_WARN, false, 16);
	ok(s.ink == 9 && s.marks == 0, "of 16 it is itself");
	t = made("dark", "warning", "default underline");
	s = theme_shade(&t, STYLE_WARN, false, COLORS_NONE);
	ok(s.ink == INK_DEFAULT && s.marks == LOOK_UNDERLINE, "a mark without a colour");
	t = made("dark", "bad", "green");
	s = theme_shade(&t, STYLE_BAD, false, COLORS_NONE);
	is_int(s.marks, LOOK_BOLD | LOOK_UNDERLINE, "without colours the marks of the role stay");
	t = made("dark", "selection", "reverse");
	s = theme_shade(&t, STYLE_DIM, true, 256);
	ok(s.ground == INK_DEFAULT && s.marks == LOOK_REVERSE, "the selection reversed");
	t = made("dark", "text", "white on black");
	s = theme_shade(&t, STYLE_BOLD, false, 256);
	ok(s.ink == 7 && s.ground == 0 && s.marks == LOOK_BOLD, "text gives the whole screen its colours");
	refused("warnin", "red", 7, "7: theme: there is no role \"warnin\"; did you mean warning?");
	refused("nonsense", "red", 0, "roles are text, dim, strong");
	refused("bad", "gren", 3, "3: theme: bad: \"gren\" is not a colour; did you mean green?");
	refused("bad", "256", 0, "\"256\" is not a colour");
	refused("bad", "#12345g", 0, "\"#12345g\" is not a colour");
	refused("bad", "red blue", 0, "two colours");
	refused("bad", "red on", 0, "missing after \"on\"");
	refused("base", "drak", 2, "2: theme: there is no theme \"drak\"; did you mean dark?");
}

/* No colour that the terminal lacks; a selected row is always seen. */
static void test_depth(const char *name, int colors)
{
	struct theme t = made(name, NULL, NULL);
	int lacking = 0, unseen = 0;
	for (int style = 0; style < STYLE_COUNT; style++)
		for (int selected = 0; selected < 2; selected++) {
			struct shade s = theme_shade(&t, (enum style)style, selected, colors);
			int most = s.ink > s.ground ? s.ink : s.ground;
			lacking += most >= colors && !(colors == COLORS_ALL && most >= INK_RGB);
			unseen += selected && !(s.marks & LOOK_REVERSE) && s.ground == INK_DEFAULT;
		}
	ok(!lacking && !unseen, "%s with %d colours", name, colors);
}

static void test_degrades(void)
{
	struct ink orange = { INK_RGB | 0xff8700, INK_NEAREST, INK_NEAREST },
		   grey = { 244, INK_NEAREST, INK_NEAREST },
		   middle = { INK_RGB | 0x808080, INK_NEAREST, INK_NEAREST };
	is_int(theme_nearest(orange, COLORS_ALL), INK_RGB | 0xff8700, "as it is");
	is_int(theme_nearest(orange, 256), 208, "the nearest of 256");
	is_int(theme_nearest(orange, 8), 3, "of 8 by hue: yellow");
	is_int(theme_nearest(orange, COLORS_NONE), INK_DEFAULT, "none");
	is_int(theme_nearest(grey, 256), 244, "an index stays");
	is_int(theme_nearest(grey, 8), 7, "grey is white");
	is_int(theme_nearest(middle, 256), 244, "a grey of the ramp");
	for (int i = 16; i < 256; i++) {
		struct ink one = { (int32_t)(INK_RGB | theme_index_rgb(i)), INK_NEAREST, INK_NEAREST };
		if (theme_index_rgb((int)theme_nearest(one, 256)) != theme_index_rgb(i))
			ok(false, "colour %d is its own nearest", i);
	}
	static const int depths[] = { COLORS_NONE, 8, 16, 256, COLORS_ALL };
	for (int i = 0; theme_name_at(i); i++)
		for (size_t d = 0; d < 5; d++)
			test_depth(theme_name_at(i), depths[d]);
	struct theme mono = made("mono", NULL, NULL);
	struct shade s = theme_shade(&mono, STYLE_GOOD, false, COLORS_ALL);
	ok(s.ink == INK_DEFAULT && s.ground == INK_DEFAULT, "mono has none anywhere");
	struct theme ansi = made("ansi", NULL, NULL);
	is_int(theme_shade(&ansi, STYLE_GOOD, false, COLORS_ALL).ink, 2, "ansi has the terminal's own");
}

/* ---- what readers see ---- */

/* Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
 * 2009, severity 1, on linear rgb. */
static const double sights[3][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 },
		{ -0.003882, -0.048116, 1.051998 } },
	{ { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 },
		{ -0.011820, 0.042940, 0.968881 } },
};
static const char *const sight_names[] = { "all readers", "protanopia", "deuteranopia" };

static void linear(uint32_t rgb, double out[3])
{
	for (int i = 0; i < 3; i++) {
		double v = (rgb >> (16 - 8 * i) & 255) / 255.0;
		out[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
	}
}

/* Oklab (Ottosson 2020) of a colour as a reader sees it. */
static void seen(uint32_t rgb, int sight, double lab[3])
{
	static const double to_lms[3][3] = { { 0.4122214708, 0.5363325363, 0.0514459929 },
		{ 0.2119034982, 0.6806995451, 0.1073969566 }, { 0.0883024619, 0.2817188376, 0.6299787005 } };
	static const double to_lab[3][3] = { { 0.2104542553, 0.7936177850, -0.0040720468 },
		{ 1.9779984951, -2.4285922050, 0.4505937099 },
		{ 0.0259040371, 0.7827717662, -0.8086757660 } };
	double in[3], eye[3], lms[3];
	linear(rgb, in);
	for (int i = 0; i < 3; i++) {
		double v = 0;
		for (int k = 0; k < 3; k++)
			v += sights[sight][i][k] * in[k];
		eye[i] = fmin(1, fmax(0, v));
	}
	for (int i = 0; i < 3; i++) {
		lms[i] = 0;
		for (int k = 0; k < 3; k++)
			lms[i] += to_lms[i][k] * eye[k];
		lms[i] = cbrt(lms[i]);
	}
	for (int i = 0; i < 3; i++) {
		lab[i] = 0;
		for (int k = 0; k < 3; k++)
			lab[i] += to_lab[i][k] * lms[k];
	}
}

static double difference(uint32_t a, uint32_t b, int sight)
{
	double x[3], y[3], sum = 0;
	seen(a, sight, x);
	seen(b, sight, y);
	for (int i = 0; i < 3; i++)
		sum += (x[i] - y[i]) * (x[i] - y[i]);
	return sqrt(sum);
}

static double luminance(uint32_t rgb)
{
	double v[3];
	linear(rgb, v);
	return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
}

/* Of WCAG 2: 1 to 21. */
static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);
	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static uint32_t rgb_at(const struct theme *t, enum style style, int colors)
{
	int32_t ink = theme_shade(t, style, false, colors).ink;
	return ink == INK_DEFAULT ? t->page_ink : ink >= INK_RGB ? (uint32_t)ink & 0xffffff :
		theme_index_rgb((int)ink);
}

static void test_readable(const char *name, int colors)
{
	static const enum style apart[] = { STYLE_NORMAL, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLE_ACCENT,
		STYLE_CRITICAL };
	struct theme t = made(name, NULL, NULL);
	int32_t ground = theme_nearest(t.looks[ROLE_SELECTION].ground, colors);
	uint32_t chosen = ground >= INK_RGB ? (uint32_t)ground & 0xffffff : theme_index_rgb((int)ground);
	for (int style = 0; style < STYLE_COUNT; style++) {
		uint32_t ink = rgb_at(&t, (enum style)style, colors);
		double on_page = contrast(ink, t.page_ground), on_row = contrast(ink, chosen);
		if (on_page < 4.5)
			ok(false, "%s: %s has contrast %.1f", name, theme_role_at(style), on_page);
		if (on_row < 4)
			ok(false, "%s: %s has contrast %.1f in the selected row", name, theme_role_at(style),
				on_row);
	}
	for (int sight = 0; sight < 3; sight++) {
		double least = 9;
		for (int i = 0; i < 6; i++)
			for (int k = 0; k < i; k++)
				least = fmin(least, difference(rgb_at(&t, apart[i], colors),
							 rgb_at(&t, apart[k], colors), sight));
		ok(least > 0.06, "%s, %d colours: inks differ for %s: %.3f", name, colors, sight_names[sight],
			least);
		double low[3], middle[3], high[3];
		seen(rgb_at(&t, STYLE_HEAT_LOW, colors), sight, low);
		seen(rgb_at(&t, STYLE_HEAT_MIDDLE, colors), sight, middle);
		seen(rgb_at(&t, STYLE_HEAT_HIGH, colors), sight, high);
		double sign = high[0] > low[0] ? 1 : -1;
		ok(sign * (middle[0] - low[0]) > 0.05 && sign * (high[0] - middle[0]) > 0.05,
			"%s: heat goes one way in lightness for %s", name, sight_names[sight]);
	}
}

static void test_ground(void)
{
	is_int(theme_light_by_env("0;15"), 1, "black on white");
	is_int(theme_light_by_env("15;0"), 0, "white on black");
	is_int(theme_light_by_env("0;default;7"), 1, "three fields");
	is_int(theme_light_by_env("15;8"), 0, "grey");
	is_int(theme_light_by_env("15;default"), -1, "not said");
	is_int(theme_light_by_env(NULL), -1, "no variable");
	is_int(theme_light_by_color(0xfdf6e3), 1, "cream");
	is_int(theme_light_by_color(0x002b36), 0, "dark blue");
}

static void test_print(void)
{
	struct canvas c = { 0 };
	struct str out = { 0 };
	struct theme t = made("dark", "warning", "208");
	canvas_resize(&c, 6, 2);
	canvas_text(canvas_area(&c), 0, 0, STYLE_WARN, "ab");
	canvas_text(canvas_area(&c), 2, 0, STYLE_NORMAL, "c");
	theme_print(&c, &t, 256, &out);
	is_str(out.p, "\033[0;38;5;208mab\033[0mc\n\n", "colours as they are sent");
	str_clear(&out);
	theme_print(&c, &t, COLORS_NONE, &out);
	is_str(out.p, "\033[0;1mab\033[0mc\n\n", "none: bold");
	str_clear(&out);
	t = made("dark", "warning", "#0102ff on bright-blue");
	theme_print(&c, &t, COLORS_ALL, &out);
	is_str(out.p, "\033[0;38;2;1;2;255;104mab\033[0mc\n\n", "all colours");
	str_free(&out);
	canvas_free(&c);
}

int main(void)
{
	test_table();
	test_manual();
	test_words();
	test_degrades();
	test_readable("dark", COLORS_ALL);
	test_readable("light", COLORS_ALL);
	test_readable("dark", 256);
	test_readable("light", 256);
	test_ground();
	test_print();
	return done_testing();
}
