# ui/frame: the frame around the views
libui_a_SOURCES += \
	ui/frame/actions.c \
	ui/frame/app.c \
	ui/frame/app.h \
	ui/frame/complete.c \
	ui/frame/copy.c \
	ui/frame/device.c \
	ui/frame/draw.c \
	ui/frame/form.c \
	ui/frame/frame.h \
	ui/frame/header.c \
	ui/frame/hints.c \
	ui/frame/history.c \
	ui/frame/jump.c \
	ui/frame/keep.c \
	ui/frame/line.c \
	ui/frame/models.c \
	ui/frame/mouse.c \
	ui/frame/panes.c \
	ui/frame/prompt.c \
	ui/frame/questions.c \
	ui/frame/request.c \
	ui/frame/run.c \
	ui/frame/tour.c \
	ui/frame/tour.h \
	ui/frame/typed.c \
	ui/frame/write.c
