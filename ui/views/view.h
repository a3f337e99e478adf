/* The views: each a file with its struct view, listed in view_list.h. */
#ifndef UI_VIEWS_VIEW_H
#define UI_VIEWS_VIEW_H

#include "ui/stage/view.h"
#include "ui/views/view_list.h"

#define VIEW_DECLARE(name) extern const struct view view_##name;
VIEW_LIST(VIEW_DECLARE)

/* Makes them the views of the explorer, for all that asks the tables of views and of keys. Before either. */
void views_register(void);

#endif
