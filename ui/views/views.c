#include "config.h"

#include "ui/views/view.h"

/* In the order of Tab; the first is the one that the others return to. */
static const struct view *const views[] = {
	&view_layers,
	&view_detail,
	&view_what_if,
	&view_problems,
	&view_devices,
	&view_doctor,
	&view_advice,
	&view_help,
};

const struct view *views_at(int number)
{
	return number >= 0 && number < (int)(sizeof(views) / sizeof(*views)) ? views[number] : NULL;
}
