-- What schema version 3 adds to schema.sql: executions of whole models by frameworks. The columns are the fields of
-- src/problem/execution_field.c, in that order. Rows are only added. Unknown numbers are NULL, unknown texts ''; a list
-- of names has one on each line.
CREATE TABLE execution (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	source TEXT NOT NULL,               -- agent, or the kind of profile that it was read from
	framework TEXT NOT NULL,
	version TEXT NOT NULL,              -- of the framework
	provider TEXT NOT NULL,
	device TEXT NOT NULL,               -- model of the CPU or GPU
	host TEXT NOT NULL,
	threads INTEGER,
	dtype TEXT NOT NULL,                -- really computed in
	math TEXT NOT NULL,
	settings TEXT NOT NULL,             -- JSON object
	model TEXT NOT NULL,                -- name
	model_hash TEXT NOT NULL,           -- SHA-256 of its file
	inputs TEXT NOT NULL,               -- NAME:TYPE:1x3x224x224
	batch INTEGER,
	requests INTEGER,                   -- at a time
	status TEXT NOT NULL,
	why TEXT NOT NULL,
	n INTEGER,                          -- samples that count
	discarded INTEGER,
	executions INTEGER,                 -- per sample
	min_ns REAL,                        -- latency of an unprofiled run
	q1_ns REAL,
	median_ns REAL,
	q3_ns REAL,
	mean_ns REAL,
	stdev_ns REAL,
	lo_ns REAL,                         -- 95% confidence interval of the median
	hi_ns REAL,
	stop TEXT NOT NULL,
	p90_ns REAL,
	p99_ns REAL,
	items_per_s REAL,
	load_ns REAL,                       -- creating the session
	first_ns REAL,                      -- first run
	copy_in_ns REAL,
	copy_out_ns REAL,
	floor_ns REAL,                      -- latency of an empty model
	profiled_ns REAL,                   -- median latency of profiled runs
	outside_ns REAL,                    -- of a profiled run, outside its layers
	outside_lo_ns REAL,                 -- its 95% confidence interval
	outside_hi_ns REAL,
	profiler_row_ns REAL,               -- predicted cost of profiling one layer
	profiler_inside_ns REAL,            -- the part of it in the layer's own time
	memory_bytes REAL,
	output_error REAL,                  -- largest, relative to the largest reference value
	output_compared INTEGER,
	output_finite INTEGER,
	measured_at INTEGER,
	gaps TEXT NOT NULL                  -- what the source left out
) STRICT;
CREATE INDEX execution_model ON execution (model_hash, measured_at);

-- The rows of an execution's profile.
CREATE TABLE execution_layer (
	execution INTEGER NOT NULL REFERENCES execution (id),
	position INTEGER NOT NULL,          -- from 0
	level TEXT NOT NULL,                -- layer kernel copy api
	parent INTEGER,                     -- position of the row that caused it
	name TEXT NOT NULL,
	op TEXT NOT NULL,
	provider TEXT NOT NULL,
	kernel TEXT NOT NULL,
	nodes TEXT NOT NULL,                -- of the model
	inputs TEXT NOT NULL,
	outputs TEXT NOT NULL,
	shapes TEXT NOT NULL,
	dtype TEXT NOT NULL,
	ns REAL,                            -- per run of the model
	lo_ns REAL,
	hi_ns REAL,
	calls REAL,                         -- per run
	start_ns REAL,                      -- from the start of a run
	output_bytes REAL,
	flops REAL,
	read_bytes REAL,
	write_bytes REAL,
	occupancy REAL,
	stream INTEGER,
	PRIMARY KEY (execution, position)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER execution_no_update BEFORE UPDATE ON execution BEGIN
	SELECT RAISE(ABORT, 'executions are only added, never changed');
END;
CREATE TRIGGER execution_no_delete BEFORE DELETE ON execution BEGIN
	SELECT RAISE(ABORT, 'executions are only added, never deleted');
END;
CREATE TRIGGER execution_layer_no_update BEFORE UPDATE ON execution_layer BEGIN
	SELECT RAISE(ABORT, 'executions are only added, never changed');
END;
CREATE TRIGGER execution_layer_no_delete BEFORE DELETE ON execution_layer BEGIN
	SELECT RAISE(ABORT, 'executions are only added, never deleted');
END;
