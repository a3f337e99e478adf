/* Written by tools/make_calibration.py: do not edit. Per library, kind and unit (matrix or not): fixed time
 * and launch in ns, lost tiles, shares of the peaks, spread (10th and 90th percentile of real / estimate),
 * kernels that it was fitted on (0: borrowed). Per generation: shares of memory and of products, published
 * latencies, and the median and 90th percentile of their errors without their device. Sources: the authors'
 * measurements of ResNet-50 with cuDNN 7.6 on V100, TITAN V, Quadro RTX 6000 and TITAN Xp (IPDPS 2020);
 * profiles of ResNet-18, ResNet-50 and MobileNet by TensorRT 8 on A100, RTX 3090 and TITAN RTX (examples of
 * TensorRT's engine explorer); latencies of tests/figures/latencies.tsv and its like.
 */
CALIBRATION_ROW(OLD, CONV, false, 7696, 31691, 0.00, 0.67, 0.84, 0.80, 1.38, 692)
CALIBRATION_ROW(OLD, CONV, true, 7696, 24510, 0.00, 0.42, 0.72, 0.68, 1.88, 627)
CALIBRATION_ROW(OLD, CONV_FEW, true, 7696, 8510, 0.00, 0.08, 0.08, 0.80, 1.42, 33)
CALIBRATION_ROW(OLD, CONV_GROUP, false, 3792, 1578, 0.00, 1.00, 0.75, 0.48, 2.14, 0)
CALIBRATION_ROW(OLD, CONV_WINOGRAD, false, 7696, 30334, 0.00, 1.58, 0.15, 0.73, 1.35, 176)
CALIBRATION_ROW(OLD, MATMUL, false, 4916, 23777, 0.00, 0.70, 1.00, 0.85, 1.22, 44)
CALIBRATION_ROW(OLD, MATMUL, true, 4916, 18008, 0.00, 0.64, 1.00, 0.70, 2.76, 33)
CALIBRATION_ROW(OLD, MEMORY, false, 2883, 2487, 0.00, 1.00, 0.75, 0.72, 1.43, 989)
CALIBRATION_ROW(OLD, NORM, false, 2883, 2342, 0.00, 1.00, 0.43, 0.66, 1.55, 693)
CALIBRATION_ROW(NEW, CONV, false, 7696, 31691, 0.62, 0.95, 0.74, 0.58, 1.73, 0)
CALIBRATION_ROW(NEW, CONV, true, 7696, 24510, 1.19, 0.67, 0.74, 0.58, 1.33, 195)
CALIBRATION_ROW(NEW, CONV_FEW, true, 7696, 8510, 0.00, 0.21, 0.74, 0.75, 2.50, 5)
CALIBRATION_ROW(NEW, CONV_GROUP, false, 3792, 1578, 0.00, 1.00, 0.74, 0.75, 2.33, 17)
CALIBRATION_ROW(NEW, CONV_WINOGRAD, false, 7696, 30334, 0.62, 1.28, 0.74, 0.58, 1.73, 0)
CALIBRATION_ROW(NEW, MATMUL, false, 4916, 23777, 0.62, 0.95, 0.74, 0.58, 1.73, 0)
CALIBRATION_ROW(NEW, MATMUL, true, 4916, 18008, 0.41, 0.69, 0.74, 0.75, 1.37, 6)
CALIBRATION_ROW(NEW, MEMORY, false, 2883, 2487, 0.00, 1.00, 0.74, 0.73, 2.28, 55)
CALIBRATION_ROW(NEW, NORM, false, 2883, 2342, 0.00, 1.00, 0.74, 0.58, 1.73, 0)
CALIBRATION_GENERATION(70, "Volta", 0.77, 0.60, 17, 0.16, 0.57)
CALIBRATION_GENERATION(75, "Turing", 0.83, 0.71, 10, 0.20, 0.43)
CALIBRATION_GENERATION(80, "Ampere", 0.74, 0.69, 87, 0.10, 0.32)
CALIBRATION_GENERATION(89, "Ada", 0.69, 0.64, 18, 0.18, 0.68)
CALIBRATION_GENERATION(90, "Hopper", 0.83, 0.71, 0, 0.12, 0.33)
CALIBRATION_GENERATION(100, "Blackwell", 0.78, 0.67, 0, 0.12, 0.33)
