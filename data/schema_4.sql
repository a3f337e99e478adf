-- What schema version 4 adds: the cost, a low quantile of the samples. Older rows have NULL: their cost is the median.
ALTER TABLE result ADD COLUMN p10_ns REAL;    -- 10th percentile
ALTER TABLE result ADD COLUMN p10_lo_ns REAL; -- its 95% confidence interval
ALTER TABLE result ADD COLUMN p10_hi_ns REAL;
ALTER TABLE result ADD COLUMN spent_ns REAL;  -- time for all samples, those discarded included
ALTER TABLE result ADD COLUMN sketch TEXT;    -- histogram of the samples (src/problem/stats.h)
ALTER TABLE execution ADD COLUMN p10_ns REAL; -- latency of an unprofiled run
ALTER TABLE execution ADD COLUMN p10_lo_ns REAL;
ALTER TABLE execution ADD COLUMN p10_hi_ns REAL;
ALTER TABLE execution ADD COLUMN spent_ns REAL;
