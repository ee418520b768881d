// OpenSSL 3's libcrypto: ciphers, key derivation, digests, random bytes.
#pragma once
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/core_names.h>
#include <openssl/rand.h>

// HKDF's parameters are an array of named pointers, whose names are macros; these two build it. Both return 1 when all is well.

/// Chooses HKDF over SHA-256 with an empty salt, both steps (extract and expand), for all derivations to come.
static inline int hkdf_sha256_prepare(EVP_KDF_CTX *context) {
    int mode = EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_CTX_set_params(context, parameters);
}

/// Derives `length` bytes from `secret`; the context keeps no copy of `secret` afterwards.
static inline int hkdf_sha256_derive(
    EVP_KDF_CTX *context, const unsigned char *secret, size_t secret_length, const unsigned char *info,
    size_t info_length, unsigned char *output, size_t length
) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_length),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_length),
        OSSL_PARAM_construct_end(),
    };
    int derived = EVP_KDF_derive(context, output, length, parameters);
    unsigned char nothing[1] = {0};
    OSSL_PARAM forget[] = {
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, nothing, sizeof nothing),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_CTX_set_params(context, forget) == 1 && derived == 1;
}
