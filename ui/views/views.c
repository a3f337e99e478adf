#include "config.h"

#include "ui/views/view.h"

#define VIEW_POINTER(name) &view_##name,
static const struct view *const views[] = { VIEW_LIST(VIEW_POINTER) };

const struct view *views_at(int number)
{
	return number >= 0 && number < (int)(sizeof(views) / sizeof(*views)) ? views[number] : NULL;
}
