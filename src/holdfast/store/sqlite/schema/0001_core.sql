-- needs: 0.1.0
-- Owners, their records, and what belongs to a record. Every table has an erasure rule in erase.py.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per owner: where its order is kept. Its number stands for the triple in all keys.
CREATE TABLE owners (
    owner INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    seq INTEGER NOT NULL,
    recorded_us INTEGER NOT NULL,
    UNIQUE (tenant, user, agent)
) STRICT;

-- One row per version of a record. The body comes last, so that a header is read without it.
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    form TEXT NOT NULL,
    kind TEXT NOT NULL,
    about TEXT,
    thread TEXT,
    key TEXT,
    slot BLOB,
    occurred_us INTEGER NOT NULL,
    recorded_us INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    valid_from_us INTEGER,
    valid_to_us INTEGER,
    expires_us INTEGER,
    retired_us INTEGER,
    codec INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    body ANY NOT NULL
) STRICT;

CREATE UNIQUE INDEX records_by_id ON records (id, version);
CREATE INDEX records_by_owner ON records (owner, form);
CREATE INDEX records_by_thread ON records (owner, thread, form) WHERE thread IS NOT NULL;
CREATE UNIQUE INDEX records_by_slot ON records (owner, slot)
    WHERE slot IS NOT NULL AND retired_us IS NULL;
CREATE INDEX records_by_about ON records (about) WHERE about IS NOT NULL;
CREATE INDEX records_system ON records (owner, thread) WHERE kind = 'system' AND thread IS NOT NULL;
CREATE INDEX steps_open ON records (owner, thread)
    WHERE form = 'step' AND kind <> 'done' AND retired_us IS NULL;

-- What a record was learned from: names of threads, ids of records, or any word of the caller's.
CREATE TABLE sources (
    owner INTEGER NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    UNIQUE (owner, id, source)
) STRICT;

CREATE INDEX sources_by_source ON sources (source);

-- Recalls counted and importance given; they change without touching the record.
CREATE TABLE tallies (
    id TEXT PRIMARY KEY,
    owner INTEGER NOT NULL,
    importance REAL,
    hits INTEGER NOT NULL,
    accessed_us INTEGER
) STRICT, WITHOUT ROWID;

-- Idempotency keys (hashed) and what was answered; without an answer: of something erased.
CREATE TABLE batches (
    key BLOB PRIMARY KEY,
    owner INTEGER,
    fingerprint BLOB,
    receipt TEXT,
    recorded_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX batches_by_owner ON batches (owner) WHERE owner IS NOT NULL;
CREATE INDEX batches_by_time ON batches (recorded_us);

-- Keyed hashes of what was erased, and when.
CREATE TABLE tombstones (
    what BLOB PRIMARY KEY,
    erased_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For people with sqlite3 in their hands.
CREATE VIEW facts AS
SELECT
    r.id, o.tenant, o.user, o.agent, coalesce(r.about, o.user) AS subject, r.kind, r.key,
    json_extract(r.body, '$.text') AS text, r.version, r.retired_us IS NULL AS current,
    datetime(r.recorded_us / 1000000, 'unixepoch') AS recorded, r.body
FROM records AS r JOIN owners AS o ON o.owner = r.owner
WHERE r.form = 'fact';

CREATE VIEW messages AS
SELECT
    r.id, o.tenant, o.user, o.agent, r.thread, r.kind, json_extract(r.body, '$.role') AS role,
    json_extract(r.body, '$.text') AS text,
    datetime(r.recorded_us / 1000000, 'unixepoch') AS recorded, r.body
FROM records AS r JOIN owners AS o ON o.owner = r.owner
WHERE r.form = 'episode';
