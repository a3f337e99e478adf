-- The performance database, schema version 2. A new file is made by this text; older ones are brought here by the steps of
-- src/store/migrate.c. Rows of `result` are only ever added. Unknown numbers are NULL.
-- Times are nanoseconds per execution, sizes bytes, dates seconds since 1970 (UTC).

-- Who measured: results of two identities never mix in one bound.
CREATE TABLE identity (
	id INTEGER PRIMARY KEY,
	model TEXT NOT NULL,                -- device model
	stack TEXT NOT NULL,                -- libraries, versions, threads, affinity, math mode
	UNIQUE (model, stack)
) STRICT;

-- What was recorded of an identity besides: shown, never part of it. A new row whenever anything differs.
CREATE TABLE attributes (
	id INTEGER PRIMARY KEY,
	identity INTEGER NOT NULL REFERENCES identity (id),
	name TEXT NOT NULL,                 -- what selects the device: cpu, cuda:0
	runner TEXT NOT NULL,               -- program
	version TEXT NOT NULL,              -- of the runner
	host TEXT NOT NULL,
	json TEXT NOT NULL,                 -- everything else: isa, clocks, driver ...
	threads INTEGER NOT NULL,           -- 0 where it means nothing
	llc_bytes REAL,                     -- last-level cache
	has_matrix INTEGER NOT NULL,        -- has matrix units at all
	first_seen INTEGER NOT NULL,
	last_seen INTEGER NOT NULL
) STRICT;
CREATE INDEX attributes_identity ON attributes (identity);

-- The text is the problem's name (docs/problem.md).
CREATE TABLE problem (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

-- An implementation of a library; name '' stands for "none was reached" when a problem failed as a whole.
CREATE TABLE algorithm (
	id INTEGER PRIMARY KEY,
	api TEXT NOT NULL,
	name TEXT NOT NULL,
	layouts TEXT NOT NULL,              -- what was chosen where the problem leaves the layout open
	math TEXT NOT NULL,
	UNIQUE (api, name, layouts, math)
) STRICT;

-- Long texts that many results share, each once.
CREATE TABLE note (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE result (
	id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows for ever: what another process added since is found by it
	identity INTEGER NOT NULL REFERENCES identity (id),
	attributes INTEGER NOT NULL REFERENCES attributes (id),
	problem INTEGER NOT NULL REFERENCES problem (id),
	algorithm INTEGER NOT NULL REFERENCES algorithm (id),
	status TEXT NOT NULL,               -- ok unsupported no_memory failed crashed timeout mistrusted
	cache TEXT NOT NULL,                -- net warm cold
	launch TEXT NOT NULL,               -- amortized isolated
	rank INTEGER NOT NULL,              -- place in the library's own order, 0 = preferred
	matrix TEXT NOT NULL,               -- matrix units: unknown no yes
	workspace_bytes REAL,
	n INTEGER NOT NULL,                 -- samples kept
	discarded INTEGER NOT NULL,
	executions INTEGER NOT NULL,        -- in one sample
	min_ns REAL,
	q1_ns REAL,
	median_ns REAL,
	q3_ns REAL,
	mean_ns REAL,
	stdev_ns REAL,
	lo_ns REAL,                         -- 95% confidence interval of the median
	hi_ns REAL,
	stop TEXT NOT NULL,                 -- why sampling ended
	why TEXT NOT NULL,                  -- one line where status is not ok
	runner_version TEXT NOT NULL,
	measured_at INTEGER NOT NULL,
	notes INTEGER REFERENCES note (id),   -- what the library says of the algorithm's numerics; NULL: nothing
	kernels INTEGER REFERENCES note (id), -- device kernels that one execution ran, one a line; NULL: unknown
	enqueue_ns REAL,                    -- host time to enqueue one execution
	clock_mhz REAL                      -- of the device while it ran
) STRICT;
CREATE INDEX result_identity ON result (identity);
-- finds a problem's results, and whether an imported one is there already
CREATE INDEX result_key ON result (problem, identity, algorithm, measured_at);

CREATE TRIGGER result_no_update BEFORE UPDATE ON result BEGIN
	SELECT RAISE(ABORT, 'results are only added, never changed');
END;
CREATE TRIGGER result_no_delete BEFORE DELETE ON result BEGIN
	SELECT RAISE(ABORT, 'results are only added, never deleted');
END;

-- Problems whose measuring came to its end. Results without a row here are what an interrupted run left.
CREATE TABLE finished (
	identity INTEGER NOT NULL REFERENCES identity (id),
	problem INTEGER NOT NULL REFERENCES problem (id),
	result INTEGER NOT NULL,            -- the file's newest result at that moment: whoever read less looks here again
	finished_at INTEGER NOT NULL,
	PRIMARY KEY (identity, problem)
) STRICT, WITHOUT ROWID;

-- Dimensions given for a model, remembered.
CREATE TABLE model_dims (
	model TEXT PRIMARY KEY,
	json TEXT NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;
