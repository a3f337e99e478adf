# ui/views: the views
noinst_LIBRARIES += libui_views.a
libui_views_a_SOURCES = \
	ui/views/advice.c \
	ui/views/algorithms.c \
	ui/views/chart.c \
	ui/views/chart.h \
	ui/views/columns.c \
	ui/views/columns.h \
	ui/views/detail.c \
	ui/views/detail.h \
	ui/views/detail_lines.c \
	ui/views/detail_real.c \
	ui/views/detail_results.c \
	ui/views/devices.c \
	ui/views/distribution.c \
	ui/views/doctor.c \
	ui/views/graph.c \
	ui/views/groups.c \
	ui/views/help.c \
	ui/views/layer_text.c \
	ui/views/layer_text.h \
	ui/views/layers.c \
	ui/views/map.c \
	ui/views/messages.c \
	ui/views/models.c \
	ui/views/problems.c \
	ui/views/queue.c \
	ui/views/reality.c \
	ui/views/roofline.c \
	ui/views/scenarios.c \
	ui/views/sweep.c \
	ui/views/timeline.c \
	ui/views/view.h \
	ui/views/view_list.h \
	ui/views/views.c \
	ui/views/what_if.c
