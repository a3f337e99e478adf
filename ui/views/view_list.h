/* The views, in the order of Tab: a line each, for struct view view_NAME. The others return to the first. */
#ifndef UI_VIEWS_VIEW_LIST_H
#define UI_VIEWS_VIEW_LIST_H

#define VIEW_LIST(V) \
	V(layers) \
	V(detail) \
	V(what_if) \
	V(problems) \
	V(devices) \
	V(models) \
	V(doctor) \
	V(advice) \
	V(roofline) \
	V(timeline) \
	V(map) \
	V(graph) \
	V(distribution) \
	V(scenarios) \
	V(groups) \
	V(algorithms) \
	V(sweep) \
	V(queue) \
	V(messages) \
	V(reality) \
	V(help)

#endif
