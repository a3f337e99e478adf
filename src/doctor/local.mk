# doctor: what can distort measurements
noinst_LIBRARIES += libdoctor.a
libdoctor_a_SOURCES = \
	src/doctor/doctor.c src/doctor/doctor.h \
	src/doctor/doctor_cpu.c \
	src/doctor/doctor_database.c \
	src/doctor/doctor_device.c \
	src/doctor/doctor_load.c \
	src/doctor/doctor_memory.c \
	src/doctor/doctor_read.c \
	src/doctor/doctor_private.h \
	src/doctor/doctor_variables.c

check_PROGRAMS += tests/unit/t_doctor
tests_unit_t_doctor_LDADD = $(below_doctor)
