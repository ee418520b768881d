// libmicrohttpd, and of GnuTLS (which it is built on) what it takes to show, replace and check certificates.
// Variadic calls and enum constants that Swift does not see have typed twins here.
#pragma once
#include <microhttpd.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

static const enum MHD_Result posthorn_mhd_yes = MHD_YES;
static const enum MHD_Result posthorn_mhd_no = MHD_NO;

static inline int posthorn_mhd_is_start(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

typedef struct {
    unsigned int threads;
    size_t memory_per_connection;
    unsigned int connections;
    unsigned int connections_per_address; // 0: no limit
    void *identifier;                     // given to every callback
    const char *certificate;              // PEM; NULL: no TLS
    const char *key;
} posthorn_mhd_options;

// The target is taken raw from the request line; what libmicrohttpd would decode in place stays as it was sent.
static inline size_t posthorn_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context; (void)connection;
    size_t size = 0;
    while (text[size]) size += 1;
    return size;
}

static inline struct MHD_Daemon *posthorn_mhd_start(
    const posthorn_mhd_options *options,
    MHD_AccessHandlerCallback handler,
    void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection
) {
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC
        | MHD_USE_NO_LISTEN_SOCKET;
    struct MHD_OptionItem items[] = {
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)options->memory_per_connection, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)options->connections, NULL},
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)options->connections_per_address, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)request_line, options->identifier},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, options->identifier},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection, options->identifier},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)posthorn_mhd_keep_escapes, NULL},
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem *next = items + 8;
    if (options->threads > 1) *next++ = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, options->threads, NULL};
    if (options->certificate) {
        flags |= MHD_USE_TLS;
        *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate};
        *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key};
        *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
    }
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, options->identifier, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static inline int posthorn_mhd_iterate_headers(struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *context) {
    return MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, context);
}

static inline struct MHD_Response *posthorn_mhd_response(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

// A body that `reader` is asked for piece by piece; `context` is an integer of ours.
static inline struct MHD_Response *posthorn_mhd_paced_response(
    size_t count, size_t block, MHD_ContentReaderCallback reader, uintptr_t context, MHD_ContentReaderFreeCallback end
) {
    return MHD_create_response_from_callback(count, block, reader, (void *)context, end);
}

static const ssize_t posthorn_mhd_broken_off = MHD_CONTENT_READER_END_WITH_ERROR;

static inline int posthorn_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *posthorn_mhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static inline size_t posthorn_mhd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// What the connection notification stored for this connection.
static inline void *posthorn_mhd_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline gnutls_session_t posthorn_mhd_tls_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t)info->tls_session : NULL;
}

// 0: the client showed no certificate. 1: it showed one that the authorities vouch for, for use by a client. -1: another.
static inline int posthorn_tls_verify_client(gnutls_session_t session) {
    unsigned int count = 0;
    if (!gnutls_certificate_get_peers(session, &count) || count == 0) return 0;
    gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT, 0};
    unsigned int status = 0;
    if (gnutls_certificate_verify_peers(session, &purpose, 1, &status) < 0) return -1;
    return status == 0 ? 1 : -1;
}

// Ends a handshake whose client has not shown a certificate in order. It tells so itself: GnuTLS leaves alerts to who uses it, and
// libmicrohttpd sends none.
static inline int posthorn_tls_finished(
    gnutls_session_t session, unsigned int type, unsigned int when, unsigned int incoming, const gnutls_datum_t *message
) {
    (void)type; (void)when; (void)message;
    if (!incoming) return 0;
    int verdict = posthorn_tls_verify_client(session);
    if (verdict == 1) return 0;
    gnutls_alert_description_t alert = verdict == -1 ? GNUTLS_A_BAD_CERTIFICATE
        : gnutls_protocol_get_version(session) == GNUTLS_TLS1_3 ? GNUTLS_A_CERTIFICATE_REQUIRED : GNUTLS_A_HANDSHAKE_FAILURE;
    gnutls_alert_send(session, GNUTLS_AL_FATAL, alert);
    return GNUTLS_E_CERTIFICATE_ERROR;
}

// To be called before the handshake; `asks_client`: 0 not, 1 asks, 2 demands. The credentials must outlive the session.
static inline void posthorn_tls_prepare(gnutls_session_t session, gnutls_certificate_credentials_t credentials, int asks_client) {
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_certificate_server_set_request(session, asks_client ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_IGNORE);
    if (asks_client == 2)
        gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST, posthorn_tls_finished);
}

// Writes the SHA-256 of the client's certificate and its subject (RFC 4514, at most `*subject_size` bytes); 0 on success.
static inline int posthorn_tls_client_certificate(
    gnutls_session_t session, unsigned char fingerprint[32], char *subject, size_t *subject_size
) {
    unsigned int count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    if (!chain || count == 0) return -1;
    size_t fingerprint_size = 32;
    int result = gnutls_fingerprint(GNUTLS_DIG_SHA256, &chain[0], fingerprint, &fingerprint_size);
    gnutls_x509_crt_t certificate = NULL;
    if (result == 0) result = gnutls_x509_crt_init(&certificate);
    if (result == 0) result = gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER);
    if (result == 0) result = gnutls_x509_crt_get_dn(certificate, subject, subject_size);
    if (certificate) gnutls_x509_crt_deinit(certificate);
    return result;
}

// Credentials of PEM texts; `authorities` may be NULL. 0 on success, else GnuTLS's code, and nothing to free.
static inline int posthorn_tls_credentials(
    gnutls_certificate_credentials_t *credentials,
    const gnutls_datum_t *certificate, const gnutls_datum_t *key, const gnutls_datum_t *authorities
) {
    int result = gnutls_certificate_allocate_credentials(credentials);
    if (result < 0) return result;
    result = gnutls_certificate_set_x509_key_mem(*credentials, certificate, key, GNUTLS_X509_FMT_PEM);
    if (result >= 0 && authorities) {
        result = gnutls_certificate_set_x509_trust_mem(*credentials, authorities, GNUTLS_X509_FMT_PEM);
        if (result == 0) result = GNUTLS_E_NO_CERTIFICATE_FOUND;
    }
    if (result < 0) gnutls_certificate_free_credentials(*credentials);
    return result < 0 ? result : 0;
}
