internal import Ccurl

/// Turns what libcurl says at the end of a transfer into a response or a failure with a class.
enum TransferOutcome {
    static func result(of transfer: Transfer, _ code: CURLcode) -> Result<Response, Failure> {
        guard code == CURLE_OK else { return .failure(failure(of: transfer, code)) }
        let handle = unsafe transfer.handle
        let version: Response.Version =
            switch unsafe long(handle, CURLINFO_HTTP_VERSION) {
            case Int(CURL_HTTP_VERSION_1_1), Int(CURL_HTTP_VERSION_1_0): .http1
            case Int(CURL_HTTP_VERSION_2_0): .http2
            default: .other
            }
        let timing = unsafe Response.Timing(
            firstByte: .microseconds(size(handle, CURLINFO_STARTTRANSFER_TIME_T)),
            total: .microseconds(size(handle, CURLINFO_TOTAL_TIME_T)),
            reusedConnection: long(handle, CURLINFO_NUM_CONNECTS) == 0
        )
        return unsafe .success(
            Response(
                status: long(handle, CURLINFO_RESPONSE_CODE),
                headers: transfer.responseHeaders,
                body: transfer.responseBody,
                timing: timing,
                version: version
            )
        )
    }

    private static func failure(of transfer: Transfer, _ code: CURLcode) -> Failure {
        if transfer.isTooLarge || code == CURLE_FILESIZE_EXCEEDED { return .tooLarge }
        if transfer.refusedAddresses > 0 && transfer.openedSockets == 0 { return .refusedAddress }
        let text = unsafe String(cString: transfer.errorText)
        let verification = unsafe long(transfer.handle, CURLINFO_SSL_VERIFYRESULT)
        return classify(Int(code.rawValue), verification: verification, text: text)
    }

    /// Gives a failure its class.
    ///
    /// - Parameters:
    ///   - code: libcurl's `CURLcode`.
    ///   - verification: OpenSSL's `X509_V_…` for the server's certificate, 0 when it found no fault.
    ///   - text: libcurl's message. Under TLS 1.3 a server's refusal of our certificate comes as an alert instead of the answer; only
    ///     the message tells it from a lost connection.
    /// - Returns: the class, without anything of the message.
    static func classify(_ code: Int, verification: Int, text: String) -> Failure {
        switch CURLcode(rawValue: UInt32(clamping: code)) {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
        case CURLE_COULDNT_CONNECT: .connect
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_PEER_FAILED_VERIFICATION: .tlsHandshake(verificationFault(verification))
        case CURLE_SSL_CLIENTCERT: .tlsHandshake(.clientCertificateRefused)
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE: .unusableIdentity
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            .tlsHandshake(isClientCertificateAlert(text) ? .clientCertificateRefused : .other)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            isClientCertificateAlert(text) ? .tlsHandshake(.clientCertificateRefused) : .aborted
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING,
            CURLE_UNSUPPORTED_PROTOCOL:
            .malformed(code: code)
        default: .other(code: code)
        }
    }

    /// Tells what is wrong with the server's certificate.
    ///
    /// `X509_V_ERR_CERT_NOT_YET_VALID` (9), `…_CERT_HAS_EXPIRED` (10), `…_HOSTNAME_MISMATCH` (62), `…_IP_ADDRESS_MISMATCH` (64).
    /// libcurl compares the name itself, before it looks at what OpenSSL says about the chain (still 1 then, or 0). Everything else is about the chain.
    private static func verificationFault(_ verification: Int) -> Failure.TLSFault {
        switch verification {
        case 9, 10: .expired
        case 0, 1, 62, 64: .hostname
        default: .unknownAuthority
        }
    }

    /// The alerts of RFC 8446 §6.2 with which a server turns down a certificate of ours, in OpenSSL's words.
    private static func isClientCertificateAlert(_ text: String) -> Bool {
        let alerts = [
            "alert bad certificate", "alert unsupported certificate", "alert certificate revoked",
            "alert certificate expired", "alert certificate unknown", "alert certificate required",
            "alert unknown ca",
            "alert access denied",
        ]
        return alerts.contains { text.contains($0) }
    }

    private static func long(_ handle: UnsafeMutableRawPointer, _ info: CURLINFO) -> Int {
        var value = 0
        unsafe posthorn_curl_get_long(handle, info, &value)
        return value
    }

    private static func size(_ handle: UnsafeMutableRawPointer, _ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        unsafe posthorn_curl_get_size(handle, info, &value)
        return Int64(value)
    }
}
