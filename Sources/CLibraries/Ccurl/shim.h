// libcurl. Its set-option calls are variadic, which Swift does not see: each has a typed twin here.
// One check of OpenSSL's (which this libcurl is built on) goes with it: does a certificate belong to its key?
#pragma once
#include <curl/curl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

static inline CURLcode posthorn_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode posthorn_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode posthorn_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode posthorn_curl_set_data(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode posthorn_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl keeps a copy of the bytes.
static inline CURLcode posthorn_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}

static inline CURLcode posthorn_curl_set_writer(CURL *handle, CURLoption option, curl_write_callback callback) {
    return curl_easy_setopt(handle, option, callback);
}

static inline CURLcode posthorn_curl_set_reader(CURL *handle, curl_read_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, callback);
}

static inline CURLcode posthorn_curl_set_seeker(CURL *handle, curl_seek_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, callback);
}

static inline CURLcode posthorn_curl_set_socket_opener(CURL *handle, curl_opensocket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode posthorn_curl_set_before_request(CURL *handle, curl_prereq_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLMcode posthorn_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLcode posthorn_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode posthorn_curl_get_size(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode posthorn_curl_get_data(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode posthorn_curl_message_result(const CURLMsg *message) {
    return message->data.result;
}

// Refuses instead of asking on the terminal, which is what OpenSSL does with an encrypted key by default.
static inline int posthorn_pem_no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer; (void)size; (void)writing; (void)context;
    return -1;
}

// 1: the first certificate and the private key are one pair. 0: both can be read but do not belong together.
// -1: the certificate cannot be read. -2: the key cannot be read (an encrypted one included).
static inline int posthorn_pem_is_pair(const void *certificate, int certificate_size, const void *key, int key_size) {
    int result = -1;
    BIO *certificate_source = BIO_new_mem_buf(certificate, certificate_size);
    BIO *key_source = BIO_new_mem_buf(key, key_size);
    X509 *parsed = certificate_source ? PEM_read_bio_X509(certificate_source, NULL, posthorn_pem_no_passphrase, NULL) : NULL;
    EVP_PKEY *parsed_key = NULL;
    if (parsed) {
        result = -2;
        if (key_source) parsed_key = PEM_read_bio_PrivateKey(key_source, NULL, posthorn_pem_no_passphrase, NULL);
        if (parsed_key) result = X509_check_private_key(parsed, parsed_key) == 1 ? 1 : 0;
    }
    EVP_PKEY_free(parsed_key);
    X509_free(parsed);
    BIO_free(key_source);
    BIO_free(certificate_source);
    ERR_clear_error();
    return result;
}

// How many certificates the PEM text holds; -1 when one of them cannot be read or none is there.
static inline int posthorn_pem_certificate_count(const void *bytes, int size) {
    int count = 0;
    BIO *source = BIO_new_mem_buf(bytes, size);
    if (!source) return -1;
    for (;;) {
        X509 *parsed = PEM_read_bio_X509(source, NULL, posthorn_pem_no_passphrase, NULL);
        if (!parsed) break;
        count += 1;
        X509_free(parsed);
    }
    unsigned long last = ERR_peek_last_error();
    int finished = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    BIO_free(source);
    return finished && count > 0 ? count : -1;
}
