/* Folders of files. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdbool.h>

/* Makes the folders of a path, readable by the user alone. A failure shows when the path is opened. */
void folder_make(const char *path);
/* False if `path` leads out of the folder of `file` through links: what a model has beside it may be a link
 * to any file of the user. True for a file that is not there. */
bool folder_holds(const char *file, const char *path);

#endif
