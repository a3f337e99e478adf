/* Written by tools/make_calibration.py: do not edit. Per library, kind and unit (matrix or not): fixed time
 * and launch in ns, shares of the peaks, spread (10th and 90th percentile of real / estimate), kernels that
 * it was fitted on (0: borrowed from the other library). Sources: the authors' measurements of ResNet-50 with
 * cuDNN 7.6 on V100, TITAN V, Quadro RTX 6000 and TITAN Xp (IPDPS 2020); profiles of ResNet-18, ResNet-50
 * and MobileNet by TensorRT 8 on A100, RTX 3090 and TITAN RTX (examples of TensorRT's engine explorer).
 */
{ CALIBRATION_OLD, CALIBRATION_CONV, false, 4985, 34402, 0.67, 0.84, 0.80, 1.38, 692 },
{ CALIBRATION_OLD, CALIBRATION_CONV, true, 4985, 27221, 0.42, 0.72, 0.68, 1.88, 627 },
{ CALIBRATION_OLD, CALIBRATION_CONV_FEW, true, 4264, 11942, 0.08, 0.08, 0.80, 1.42, 33 },
{ CALIBRATION_OLD, CALIBRATION_CONV_GROUP, false, 2840, 2530, 1.00, 1.00, 0.37, 2.92, 0 },
{ CALIBRATION_OLD, CALIBRATION_CONV_WINOGRAD, false, 4985, 33045, 1.58, 0.15, 0.73, 1.35, 176 },
{ CALIBRATION_OLD, CALIBRATION_MATMUL, false, 5693, 23000, 0.70, 1.00, 0.85, 1.22, 44 },
{ CALIBRATION_OLD, CALIBRATION_MATMUL, true, 5693, 17232, 0.64, 1.00, 0.70, 2.76, 33 },
{ CALIBRATION_OLD, CALIBRATION_MEMORY, false, 2030, 3340, 1.00, 0.75, 0.72, 1.43, 989 },
{ CALIBRATION_OLD, CALIBRATION_NORM, false, 2030, 3194, 1.00, 0.43, 0.66, 1.55, 693 },
{ CALIBRATION_NEW, CALIBRATION_CONV, false, 4985, 34402, 0.67, 0.84, 0.53, 2.08, 0 },
{ CALIBRATION_NEW, CALIBRATION_CONV, true, 4985, 27221, 0.66, 0.84, 0.82, 1.43, 195 },
{ CALIBRATION_NEW, CALIBRATION_CONV_FEW, true, 4264, 11942, 0.21, 0.29, 0.88, 1.27, 5 },
{ CALIBRATION_NEW, CALIBRATION_CONV_GROUP, false, 2840, 2530, 1.00, 1.00, 0.55, 1.95, 17 },
{ CALIBRATION_NEW, CALIBRATION_CONV_WINOGRAD, false, 4985, 33045, 1.58, 0.15, 0.49, 2.03, 0 },
{ CALIBRATION_NEW, CALIBRATION_MATMUL, false, 5693, 23000, 0.70, 1.00, 0.57, 1.83, 0 },
{ CALIBRATION_NEW, CALIBRATION_MATMUL, true, 5693, 17232, 0.64, 0.90, 0.68, 1.31, 100 },
{ CALIBRATION_NEW, CALIBRATION_MEMORY, false, 2030, 3340, 1.00, 0.64, 0.64, 2.35, 55 },
{ CALIBRATION_NEW, CALIBRATION_NORM, false, 2030, 3194, 1.00, 0.43, 0.44, 2.33, 0 },
