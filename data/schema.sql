-- The performance database, schema version 2. A new file gets this text and those after it (schema_3.sql ...); src/store/migrate.c migrates
-- older ones.
-- Rows of `result` are only added. Unknown numbers are NULL.
-- Times are nanoseconds per execution, sizes bytes, dates seconds since 1970 (UTC).

-- The device identity: results of two identities are never mixed in one bound.
CREATE TABLE identity (
	id INTEGER PRIMARY KEY,
	model TEXT NOT NULL,                -- device model
	stack TEXT NOT NULL,                -- libraries, versions, threads, affinity, math mode
	UNIQUE (model, stack)
) STRICT;

-- Other properties of a device: shown, not part of the identity. A new row whenever anything but the dates differs.
CREATE TABLE attributes (
	id INTEGER PRIMARY KEY,
	identity INTEGER NOT NULL REFERENCES identity (id),
	name TEXT NOT NULL,                 -- selects the device: cpu, cuda:0
	runner TEXT NOT NULL,               -- program
	version TEXT NOT NULL,              -- of the runner
	host TEXT NOT NULL,
	json TEXT NOT NULL,                 -- everything else: isa, clocks, driver ...
	threads INTEGER NOT NULL,           -- 0: not applicable
	llc_bytes REAL,                     -- last-level cache
	has_matrix INTEGER NOT NULL,        -- the device has matrix units
	first_seen INTEGER NOT NULL,
	last_seen INTEGER NOT NULL
) STRICT;
CREATE INDEX attributes_identity ON attributes (identity);

-- The problem text (docs/problem.md).
CREATE TABLE problem (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

-- An algorithm of a library; name '': the problem failed before any algorithm was tried.
CREATE TABLE algorithm (
	id INTEGER PRIMARY KEY,
	api TEXT NOT NULL,
	name TEXT NOT NULL,
	layouts TEXT NOT NULL,              -- the library's choice where the problem leaves the layout open
	math TEXT NOT NULL,
	UNIQUE (api, name, layouts, math)
) STRICT;

-- Long texts that many results share, stored once.
CREATE TABLE note (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE result (
	id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: finds the rows that another process added later
	identity INTEGER NOT NULL REFERENCES identity (id),
	attributes INTEGER NOT NULL REFERENCES attributes (id),
	problem INTEGER NOT NULL REFERENCES problem (id),
	algorithm INTEGER NOT NULL REFERENCES algorithm (id),
	status TEXT NOT NULL,               -- ok unsupported no_memory failed crashed timeout mistrusted
	cache TEXT NOT NULL,                -- net warm cold
	launch TEXT NOT NULL,               -- amortized isolated
	rank INTEGER NOT NULL,              -- position in the runner's order of preference, 0 = first choice
	matrix TEXT NOT NULL,               -- matrix units used: unknown no yes
	workspace_bytes REAL,
	n INTEGER NOT NULL,                 -- samples that count
	discarded INTEGER NOT NULL,
	executions INTEGER NOT NULL,        -- per sample
	min_ns REAL,
	q1_ns REAL,
	median_ns REAL,
	q3_ns REAL,
	mean_ns REAL,
	stdev_ns REAL,
	lo_ns REAL,                         -- 95% confidence interval of the median
	hi_ns REAL,
	stop TEXT NOT NULL,                 -- why sampling ended
	why TEXT NOT NULL,                  -- reason, one line, if status is not ok or samples were disturbed
	runner_version TEXT NOT NULL,
	measured_at INTEGER NOT NULL,
	notes INTEGER REFERENCES note (id),   -- the library's remarks on the numerics; NULL: none
	kernels INTEGER REFERENCES note (id), -- device kernels of one execution, one per line; NULL: unknown
	enqueue_ns REAL,                    -- host time to enqueue one execution
	clock_mhz REAL                      -- mean device clock during the measurement
) STRICT;
CREATE INDEX result_identity ON result (identity);
-- finds a problem's results, and detects imported duplicates
CREATE INDEX result_key ON result (problem, identity, algorithm, measured_at);

CREATE TRIGGER result_no_update BEFORE UPDATE ON result BEGIN
	SELECT RAISE(ABORT, 'results are only added, never changed');
END;
CREATE TRIGGER result_no_delete BEFORE DELETE ON result BEGIN
	SELECT RAISE(ABORT, 'results are only added, never deleted');
END;

-- Problems that were measured completely. Results without a row here come from an interrupted run.
CREATE TABLE finished (
	identity INTEGER NOT NULL REFERENCES identity (id),
	problem INTEGER NOT NULL REFERENCES problem (id),
	result INTEGER NOT NULL,            -- newest result id then: readers at or before it read this row
	finished_at INTEGER NOT NULL,
	PRIMARY KEY (identity, problem)
) STRICT, WITHOUT ROWID;

-- Dimensions that the user set for a model, kept for later runs.
CREATE TABLE model_dims (
	model TEXT PRIMARY KEY,
	json TEXT NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;
