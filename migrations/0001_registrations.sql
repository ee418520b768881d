-- Who is to be told what, and where: pushers with their key chains, channels, trigger types, gateways.
--
-- Every key that the way of an event looks up begins with the user id, so that the tables can be spread by user over
-- several servers without a change in the code. Only registration looks across users, by (app_id, pushkey).
-- Limits are those of the Client-FD Push API 1.2.0; the database holds them too, so that no path around the program
-- can put in what the workers do not expect.

-- The month of the key chain, as year * 12 + (month - 1), by this database's clock in the given zone. The only clock for months:
-- workers ask it with every batch, so that a worker's wrong clock cannot move a key chain.
CREATE FUNCTION current_month(zone text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (extract(year FROM now() AT TIME ZONE zone) * 12 + extract(month FROM now() AT TIME ZONE zone) - 1)::integer;

-- The Push Gateways that this operator trusts. An origin that is not here gets nothing.
CREATE TABLE gateways (
    origin text PRIMARY KEY
        CHECK (octet_length(origin) <= 300)
        CHECK (origin ~ '^https?://[^/?#@[:space:]]+$'),
    dialect text NOT NULL DEFAULT 'gematik-1.2' CHECK (dialect IN ('gematik-1.2', 'concept-2024')),
    -- Loopback, private and link-local addresses may be connected to; for trying out.
    allow_private boolean NOT NULL DEFAULT false,
    -- Plain http:// is allowed; for trying out, and only together with allow_private.
    insecure boolean NOT NULL DEFAULT false,
    ca_file text CHECK (octet_length(ca_file) BETWEEN 1 AND 4096),
    client_certificate_file text CHECK (octet_length(client_certificate_file) BETWEEN 1 AND 4096),
    client_key_file text CHECK (octet_length(client_key_file) BETWEEN 1 AND 4096),
    added_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT gateways_insecure_needs_private CHECK (allow_private OR NOT insecure),
    CONSTRAINT gateways_plain_needs_insecure CHECK (insecure OR origin LIKE 'https://%'),
    CONSTRAINT gateways_certificate_and_key CHECK ((client_certificate_file IS NULL) = (client_key_file IS NULL))
);

-- Kinds of event that a user can subscribe to, and what holds for a pusher that says nothing about one.
CREATE TABLE channels (
    channel_id text PRIMARY KEY CHECK (octet_length(channel_id) BETWEEN 1 AND 64),
    default_status text NOT NULL DEFAULT 'not_set' CHECK (default_status IN ('enabled', 'disabled', 'not_set')),
    -- Whether a pusher without a key chain gets this channel's events unencrypted; never the event's own choice.
    allow_plain boolean NOT NULL DEFAULT false,
    added_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Which channel an event belongs to that does not name one itself: by its CloudEvents type.
CREATE TABLE trigger_types (
    trigger_type text PRIMARY KEY CHECK (octet_length(trigger_type) BETWEEN 1 AND 256),
    channel_id text NOT NULL REFERENCES channels
);
CREATE INDEX trigger_types_by_channel ON trigger_types (channel_id);

-- One row a registration: a user's app on a device, where its messages go, and the newest generation of its key chain.
--
-- A pusher's channel settings are two small arrays in its row, not rows of their own: the batch lookup then reads one index
-- and one heap page a pusher, and 100 million pushers need no billion setting rows.
CREATE TABLE pushers (
    user_id text NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 128),
    pusher_id uuid NOT NULL DEFAULT gen_random_uuid(),
    app_id text NOT NULL CHECK (char_length(app_id) BETWEEN 1 AND 64),
    pushkey text NOT NULL CHECK (octet_length(pushkey) BETWEEN 1 AND 512),
    kind text NOT NULL DEFAULT 'http' CHECK (kind = 'http'),
    app_display_name text NOT NULL CHECK (octet_length(app_display_name) <= 256),
    device_display_name text NOT NULL CHECK (octet_length(device_display_name) <= 256),
    lang text NOT NULL CHECK (octet_length(lang) <= 64),
    profile_tag text CHECK (octet_length(profile_tag) <= 256),
    url text NOT NULL CHECK (octet_length(url) <= 2048),
    gateway_origin text NOT NULL REFERENCES gateways,
    -- The registration's data object without its url: forwarded to the gateway as it is. JSON text, not jsonb: its bytes are sent.
    data text CHECK (octet_length(data) <= 4096),
    key_identifier text CHECK (octet_length(key_identifier) BETWEEN 1 AND 128),
    -- Month of the stored generation, counted as current_month() counts.
    chain_month integer CHECK (chain_month BETWEEN 24000 AND 25199),
    -- Names the key-encryption key that chain_sealed is sealed under.
    chain_key_id text CHECK (octet_length(chain_key_id) BETWEEN 1 AND 64),
    -- IV (12) || AES-256-GCM(shared secret (32) || AES key (32)) || tag (16), bound to pusher id and month.
    chain_sealed bytea CHECK (octet_length(chain_sealed) = 92),
    enabled_channels text[] NOT NULL DEFAULT '{}' CHECK (cardinality(enabled_channels) <= 256),
    disabled_channels text[] NOT NULL DEFAULT '{}' CHECK (cardinality(disabled_channels) <= 256),
    -- Sent to the gateway as pushkey_ts; a rejection older than this says nothing about the registration.
    registered_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, pusher_id),
    CONSTRAINT pushers_one_per_app_and_pushkey UNIQUE (user_id, app_id, pushkey),
    CONSTRAINT pushers_url_on_its_gateway CHECK (left(url, length(gateway_origin) + 1) = gateway_origin || '/'),
    CONSTRAINT pushers_chain_whole_or_none CHECK (num_nulls(chain_month, chain_key_id, chain_sealed) IN (0, 3)),
    -- The dialect concept-2024 has chains without one.
    CONSTRAINT pushers_key_identifier_needs_chain CHECK (key_identifier IS NULL OR chain_sealed IS NOT NULL)
) WITH (fillfactor = 80);
-- For registration: the other users of a device, and the pushers of one app.
CREATE INDEX pushers_by_app_and_pushkey ON pushers (app_id, pushkey);
-- For removing a gateway: whether anyone still uses it.
CREATE INDEX pushers_by_gateway ON pushers (gateway_origin);
-- For re-sealing under a new key: who is still under an old one.
CREATE INDEX pushers_by_chain_key ON pushers (chain_key_id);
