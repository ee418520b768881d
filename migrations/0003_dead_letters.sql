-- What operators did with dead letters: which are dealt with, replays that can be resumed, who holds a topic, and who did what.
--
-- The letters themselves stay in Kafka; here are only their places. A few rows for each topic, so none of this is on the way of an event.

-- Users are shown and stored as a digest under this salt, so that two databases, or a list of all users, tell nothing about each other.
CREATE TABLE dead_letter_pseudonyms (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    salt uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO dead_letter_pseudonyms DEFAULT VALUES;

-- Who works on a topic's dead letters. A holder that shows no life until expires_at, by this database's clock, has lost it.
CREATE TABLE dead_letter_locks (
    topic text PRIMARY KEY CHECK (octet_length(topic) BETWEEN 1 AND 249),
    holder uuid NOT NULL,
    operator text NOT NULL CHECK (octet_length(operator) BETWEEN 1 AND 256),
    purpose text NOT NULL CHECK (octet_length(purpose) BETWEEN 1 AND 64),
    taken_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL
);

-- Letters that are dealt with: 100,000 replayed ones in a row are one range.
CREATE TABLE dead_letter_dispositions (
    topic text NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 249),
    partition integer NOT NULL CHECK (partition >= 0),
    disposition text NOT NULL CHECK (disposition IN ('replayed', 'parked', 'purged')),
    offsets int8multirange NOT NULL,
    PRIMARY KEY (topic, partition, disposition)
);

-- The end of each partition when it was last looked at: a topic that ends before it was made anew, and what is known of it is void.
CREATE TABLE dead_letter_partitions (
    topic text NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 249),
    partition integer NOT NULL CHECK (partition >= 0),
    end_offset bigint NOT NULL CHECK (end_offset >= 0),
    PRIMARY KEY (topic, partition)
);

CREATE TABLE dead_letter_replays (
    replay_id uuid PRIMARY KEY,
    topic text NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 249),
    operator text NOT NULL CHECK (octet_length(operator) BETWEEN 1 AND 256),
    -- JSON, the user in it as a digest.
    filter text NOT NULL CHECK (octet_length(filter) <= 65536),
    rules text NOT NULL CHECK (octet_length(rules) <= 4096),
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'stopped', 'done')),
    -- JSON: what became of the letters so far, and what will have once the step under way is known to be committed.
    tally text NOT NULL CHECK (octet_length(tally) <= 4096),
    pending_tally text CHECK (octet_length(pending_tally) <= 4096),
    started_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX dead_letter_replays_by_topic ON dead_letter_replays (topic, started_at);

CREATE TABLE dead_letter_replay_progress (
    replay_id uuid NOT NULL REFERENCES dead_letter_replays ON DELETE CASCADE,
    partition integer NOT NULL CHECK (partition >= 0),
    -- The bounds, fixed when the replay began.
    first_offset bigint NOT NULL CHECK (first_offset >= 0),
    end_offset bigint NOT NULL,
    -- The next letter to look at; everything before is decided.
    next_offset bigint NOT NULL,
    -- The step under way: in force once Kafka has committed next_offset of it, else void.
    pending_offset bigint,
    pending_replayed int8multirange NOT NULL DEFAULT '{}',
    pending_parked int8multirange NOT NULL DEFAULT '{}',
    PRIMARY KEY (replay_id, partition),
    CHECK (first_offset <= next_offset AND next_offset <= end_offset)
);

CREATE TABLE dead_letter_audit (
    entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz(3) NOT NULL DEFAULT now(),
    operator text NOT NULL CHECK (octet_length(operator) BETWEEN 1 AND 256),
    action text NOT NULL CHECK (octet_length(action) BETWEEN 1 AND 64),
    topic text NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 249),
    replay_id uuid,
    -- JSON, the user in it as a digest.
    filter text NOT NULL CHECK (octet_length(filter) <= 65536),
    outcome text NOT NULL CHECK (octet_length(outcome) <= 4096)
);
CREATE INDEX dead_letter_audit_by_time ON dead_letter_audit (at);
