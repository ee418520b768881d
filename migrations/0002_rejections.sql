-- What gateways say against pushers, what was removed for it, and what is held back until somebody has looked.
--
-- Whoever judges by open_rejections holds the row of their gate, so that all lanes and operators see one share of dead answers and decide one after the
-- other. Workers of the version before know nothing of any of this and go on as they did.

-- How many rejections delete a pusher. The Push Gateway interface says one.
ALTER TABLE gateways
    ADD COLUMN confirm_rejections smallint NOT NULL DEFAULT 1 CHECK (confirm_rejections BETWEEN 1 AND 10);

-- Users are shown to operators as a digest under this salt, so that two databases, or a list of all users, tell nothing about each other.
CREATE TABLE pseudonyms (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    salt uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO pseudonyms DEFAULT VALUES;

-- 16 hexadecimal digits.
CREATE FUNCTION pseudonym(user_id text) RETURNS text
    LANGUAGE sql STABLE
    RETURN (SELECT left(encode(sha256(uuid_send(salt) || convert_to(user_id, 'UTF8')), 'hex'), 16) FROM pseudonyms);

-- How one gateway has answered for one app: a handful of rows, written by each lane every few seconds.
CREATE TABLE rejection_gates (
    gateway_origin text NOT NULL REFERENCES gateways ON DELETE CASCADE,
    app_id text NOT NULL CHECK (char_length(app_id) BETWEEN 1 AND 64),
    -- Answers that fade within minutes, and within weeks; as of counted_at.
    window_accepted double precision NOT NULL DEFAULT 0 CHECK (window_accepted >= 0),
    window_rejected double precision NOT NULL DEFAULT 0 CHECK (window_rejected >= 0),
    history_accepted double precision NOT NULL DEFAULT 0 CHECK (history_accepted >= 0),
    history_rejected double precision NOT NULL DEFAULT 0 CHECK (history_rejected >= 0),
    counted_at timestamptz(3) NOT NULL DEFAULT now(),
    accepted_at timestamptz(3),
    -- Accepted since the last rejection.
    calm bigint NOT NULL DEFAULT 0 CHECK (calm >= 0),
    -- Since when every rejection is held back; null: they are believed one by one.
    holding_since timestamptz(3),
    -- Whether there may be open rejections; true too often is no harm.
    has_open boolean NOT NULL DEFAULT false,
    PRIMARY KEY (gateway_origin, app_id)
);
CREATE INDEX rejection_gates_open ON rejection_gates (gateway_origin, app_id) WHERE has_open;

-- Rejections that have not deleted their pusher, or not yet; at most one row a pusher, gone with it.
CREATE TABLE open_rejections (
    user_id text NOT NULL,
    pusher_id uuid NOT NULL,
    gateway_origin text NOT NULL,
    app_id text NOT NULL,
    -- suspected: the gateway's entry asks for more of them; waiting: for other answers that bear it out; held: for an operator.
    state text NOT NULL CHECK (state IN ('suspected', 'waiting', 'held')),
    cause text CHECK (cause IN ('storm', 'unproven')),
    -- The registration that was rejected; one registered later is another.
    registered_at timestamptz(3) NOT NULL,
    notification_id uuid NOT NULL,
    rejections integer NOT NULL DEFAULT 1 CHECK (rejections >= 1),
    -- Messages taken for the pusher since, in a row.
    successes integer NOT NULL DEFAULT 0 CHECK (successes >= 0),
    -- Other answers of the gate that were asked for since.
    accepted_since bigint NOT NULL DEFAULT 0 CHECK (accepted_since >= 0),
    rejected_since bigint NOT NULL DEFAULT 1 CHECK (rejected_since >= 0),
    first_rejected_at timestamptz(3) NOT NULL,
    rejected_at timestamptz(3) NOT NULL,
    PRIMARY KEY (user_id, pusher_id),
    FOREIGN KEY (user_id, pusher_id) REFERENCES pushers ON DELETE CASCADE,
    CONSTRAINT open_rejections_held_for_a_cause CHECK ((state = 'held') = (cause IS NOT NULL))
);
CREATE INDEX open_rejections_by_gate ON open_rejections (gateway_origin, app_id, state, rejected_at);

-- Pushers that are no more: the record of who removed them and why. Without keys; the pushkey as a salted digest, by which it can be known again.
CREATE TABLE pusher_removals (
    user_id text NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 128),
    pusher_id uuid NOT NULL,
    app_id text NOT NULL,
    gateway_origin text NOT NULL,
    device_display_name text NOT NULL,
    pushkey_salt bytea NOT NULL CHECK (octet_length(pushkey_salt) = 16),
    pushkey_digest bytea NOT NULL CHECK (octet_length(pushkey_digest) = 32),
    enabled_channels text[] NOT NULL,
    disabled_channels text[] NOT NULL,
    registered_at timestamptz(3) NOT NULL,
    -- rejected: the gateway said so; confirmed: it said so as often as its entry asks; applied: an operator let a held rejection pass.
    reason text NOT NULL CHECK (reason IN ('rejected', 'confirmed', 'applied')),
    notification_id uuid NOT NULL,
    rejected_at timestamptz(3) NOT NULL,
    removed_at timestamptz(3) NOT NULL,
    removed_by text NOT NULL CHECK (octet_length(removed_by) BETWEEN 1 AND 256),
    -- When a registration took the channel settings over again.
    restored_at timestamptz(3),
    PRIMARY KEY (user_id, pusher_id)
);
CREATE INDEX pusher_removals_by_time ON pusher_removals (removed_at);

-- What operators did with held rejections.
CREATE TABLE rejection_decisions (
    decision_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    decided_at timestamptz(3) NOT NULL DEFAULT now(),
    decided_by text NOT NULL CHECK (octet_length(decided_by) BETWEEN 1 AND 256),
    decision text NOT NULL CHECK (decision IN ('apply', 'discard')),
    -- What it was limited to; null: not by this.
    gateway_origin text,
    app_id text,
    rejected_since timestamptz(3),
    pushers bigint NOT NULL
);
CREATE INDEX rejection_decisions_by_time ON rejection_decisions (decided_at);
