# ui/frame: the frame around the views
noinst_LIBRARIES += libui_frame.a
libui_frame_a_SOURCES = \
	ui/frame/app.c \
	ui/frame/app.h \
	ui/frame/complete.c \
	ui/frame/copy.c \
	ui/frame/draw.c \
	ui/frame/find.c \
	ui/frame/form_draw.c \
	ui/frame/frame.h \
	ui/frame/header.c \
	ui/frame/hints.c \
	ui/frame/history.c \
	ui/frame/jump.c \
	ui/frame/line.c \
	ui/frame/mouse.c \
	ui/frame/questions.c \
	ui/frame/request.c \
	ui/frame/run.c \
	ui/frame/tour.c \
	ui/frame/tour.h \
	ui/frame/tour_key.c \
	ui/frame/typed.c \
	ui/frame/write.c
