/* The analysis: a pure function of plan, results and scenario. Recomputed at every key press: 10,000 layers
 * take a few milliseconds. Times are in ns; NaN: unknown. For other rooms; boxes include what they need. */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

#include "analyze/bound/analyzer.h"
#include "analyze/choose/critical_path.h"

#endif
