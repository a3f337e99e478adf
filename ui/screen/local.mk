# ui/screen: a canvas in memory, its terminal, lanes of a DAG, plots
noinst_LIBRARIES += libui_screen.a
libui_screen_a_SOURCES = \
	ui/screen/canvas.c \
	ui/screen/canvas.h \
	ui/screen/canvas_svg.c \
	ui/screen/clipboard.c \
	ui/screen/clipboard.h \
	ui/screen/key.c \
	ui/screen/key.h \
	ui/screen/lanes.c \
	ui/screen/lanes.h \
	ui/screen/plot.c \
	ui/screen/plot.h \
	ui/screen/reply.c \
	ui/screen/reply.h \
	ui/screen/term.c \
	ui/screen/term.h \
	ui/screen/term_in.c \
	ui/screen/term_in.h \
	ui/screen/term_out.c \
	ui/screen/term_out.h \
	ui/screen/theme.c \
	ui/screen/theme.h
