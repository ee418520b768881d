// librdkafka, and the mock cluster that it carries for tests and for `posthorn demo`.
//
// The setters are typed twins of the RD_KAFKA_V_… macros, which Swift cannot see: each fills one entry of the
// array that rd_kafka_produceva takes.
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

static inline void crdkafka_set_topic(rd_kafka_vu_t *entry, rd_kafka_topic_t *topic) {
    entry->vtype = RD_KAFKA_VTYPE_RKT;
    entry->u.rkt = topic;
}

static inline void crdkafka_set_partition(rd_kafka_vu_t *entry, int32_t partition) {
    entry->vtype = RD_KAFKA_VTYPE_PARTITION;
    entry->u.i32 = partition;
}

static inline void crdkafka_set_flags(rd_kafka_vu_t *entry, int flags) {
    entry->vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    entry->u.i = flags;
}

static inline void crdkafka_set_timestamp(rd_kafka_vu_t *entry, int64_t milliseconds) {
    entry->vtype = RD_KAFKA_VTYPE_TIMESTAMP;
    entry->u.i64 = milliseconds;
}

static inline void crdkafka_set_identifier(rd_kafka_vu_t *entry, uintptr_t identifier) {
    entry->vtype = RD_KAFKA_VTYPE_OPAQUE;
    entry->u.ptr = (void *)identifier;
}

static inline void crdkafka_set_key(rd_kafka_vu_t *entry, const void *bytes, size_t count) {
    entry->vtype = RD_KAFKA_VTYPE_KEY;
    entry->u.mem.ptr = (void *)bytes;
    entry->u.mem.size = count;
}

static inline void crdkafka_set_value(rd_kafka_vu_t *entry, const void *bytes, size_t count) {
    entry->vtype = RD_KAFKA_VTYPE_VALUE;
    entry->u.mem.ptr = (void *)bytes;
    entry->u.mem.size = count;
}

static inline void crdkafka_set_headers(rd_kafka_vu_t *entry, rd_kafka_headers_t *headers) {
    entry->vtype = RD_KAFKA_VTYPE_HEADERS;
    entry->u.headers = headers;
}
