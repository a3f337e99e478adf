/* The stand-in of our kernels that make u8 sources s8. */
#ifndef FAKE_SHIFT_H
#define FAKE_SHIFT_H

/* Corrected biases computed (cuda_signed.h). */
extern int fake_shift_sums;

#endif
