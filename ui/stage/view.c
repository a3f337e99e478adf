/* The table of views: its order, names and numbers. */
#include "config.h"

#include "ui/stage/view.h"

#include <string.h>

static const struct view *const none[] = { NULL };
static const struct view *const *views = none;
static int count;

void views_use(const struct view *const *list)
{
	views = list;
	for (count = 0; views[count];)
		count++;
}

const struct view *views_at(int number)
{
	return number >= 0 && number < count ? views[number] : NULL;
}

int views_count(void)
{
	return count;
}

int views_number(const struct view *view)
{
	int number = 0;
	while (views_at(number) && views_at(number) != view)
		number++;
	return views_at(number) ? number : 0;
}

const struct view *views_details(void)
{
	int number = 0;
	while (views_at(number) && !views_at(number)->details)
		number++;
	return views_at(number);
}

const struct view *views_find(const char *name)
{
	const struct view *found = NULL;
	int like = 0;
	for (int i = 0; views_at(i); i++) {
		const char *own = views_at(i)->name;
		size_t n = strlen(name), own_n = strlen(own);
		bool plural = n == own_n + 1 && name[own_n] == 's';
		if (strcmp(own, name) == 0)
			return views_at(i);
		if (n && strncmp(own, name, plural ? own_n : n) == 0) {
			found = views_at(i);
			like++;
		}
	}
	return like == 1 ? found : NULL;
}

void views_names(struct str *out)
{
	for (int i = 0; views_at(i); i++)
		str_addf(out, "%s%s", i ? ", " : "", views_at(i)->name);
}

const struct list *view_list(const struct view *view)
{
	static const struct list no_rows;
	return view->list ? view->list : &no_rows;
}

void view_draw_in_use(struct area line)
{
	canvas_put(line, 1, 0, STYLE_GOOD, line.canvas->ascii ? '@' : 0x25cf);
}
