/* Themes: what each role of a cell looks like, in one table (theme.c), on terminals with any number of
 * colours and in pictures. The configuration (`theme:`) chooses a theme and changes roles by name. */
#ifndef UI_SCREEN_THEME_H
#define UI_SCREEN_THEME_H

#include "base/error.h"
#include "ui/screen/canvas.h"

/* The styles of cells and, after them, what only the theme knows. */
enum role { ROLE_SELECTION = STYLE_COUNT, ROLE_COUNT };

/* A colour: -1 that of the terminal, 0 to 255 an index, else INK_RGB | 0xrrggbb. */
#define INK_DEFAULT (-1)
#define INK_RGB 0x1000000

enum look_mark { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

/* How many colours a terminal has. */
#define COLORS_NONE 0
#define COLORS_ALL 0x1000000

struct ink {
	int32_t color;
	int16_t index;       /* for terminals with 256 colours */
	int8_t basic;        /* below 8, for those with 8 or 16; of both: -1 that of the terminal, INK_NEAREST
				computed from `color` */
};
#define INK_NEAREST (-2)

struct look {
	struct ink ink, ground;
	uint8_t marks[3];    /* enum look_mark: without colours, with 8 or 16, with more */
};

struct theme {
	const char *name;
	bool colored;            /* false: mono */
	uint32_t page_ink, page_ground; /* of pictures, 0xrrggbb */
	struct look looks[ROLE_COUNT];
};

/* A cell on a terminal with a number of colours: colours that it has, and enum look_mark. */
struct shade {
	int32_t ink, ground;
	unsigned marks;
};

struct config_word;
/* The theme that the configuration describes: entries "base" (a theme, or "auto") and of roles. light: what
 * "auto" is on this terminal. -1 with an error that begins with the entry's line, if it has one: no such
 * theme, role or colour. */
int theme_make(struct theme *out, const struct config_word *words, int count, bool light, struct error *err);
/* True if the background of the terminal decides. */
bool theme_is_auto(const struct config_word *words, int count);
/* Names of the themes and roles: number from 0; NULL beyond the last. */
const char *theme_name_at(int number);
const char *theme_role_at(int number);

/* What a cell of this style looks like. */
struct shade theme_shade(const struct theme *t, enum style style, bool selected, int colors);
/* The colour that a terminal shows for an index: below 16 about, since users change these. */
uint32_t theme_index_rgb(int index);
/* The nearest colour of a terminal with 8, 16, 256 or all colours, as in struct shade. */
int32_t theme_nearest(struct ink ink, int colors);

/* Whether the background is light: 1, 0, -1 unknown. COLORFGBG: "15;0" or "0;default;15"; of a colour. */
int theme_light_by_env(const char *colorfgbg);
int theme_light_by_color(uint32_t rgb);

/* Adds the sequence that selects a shade after another one was in force, as xterm and ECMA-48 have it. */
void theme_sgr(struct str *out, struct shade s);
/* The rows as text with these sequences: what a terminal with `colors` shows. */
void theme_print(const struct canvas *c, const struct theme *t, int colors, struct str *out);

#endif
