/* The table of views; apart from the views, so that tests can link another one. */
#include "config.h"

#include "ui/views/view.h"

#define VIEW_POINTER(name) &view_##name,
static const struct view *const views[] = { VIEW_LIST(VIEW_POINTER) NULL };

void views_register(void)
{
	views_use(views);
	keys_begin();
}
