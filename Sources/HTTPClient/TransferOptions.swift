internal import Ccurl

/// Turns a request into libcurl's options.
///
/// A handle comes here fresh or reset: what is not set here has libcurl's default, which for redirects, cookies, `.netrc`,
/// authentication, HSTS, alt-svc and content decoding is off.
enum TransferOptions {
    static func set(
        for request: borrowing Request,
        on transfer: Transfer,
        _ configuration: Client.Configuration
    ) throws(ClientError) {
        let handle = unsafe transfer.handle
        try unsafe setCallbacks(handle, transfer)
        try unsafe setSafety(handle, request)
        try unsafe setIdentity(handle, request.destination.identity)
        try unsafe setLimits(handle, request, configuration)
        try unsafe setContent(handle, request, transfer)
    }

    private static func setCallbacks(
        _ handle: UnsafeMutableRawPointer,
        _ transfer: Transfer
    ) throws(ClientError) {
        let context = unsafe transfer.context
        try unsafe check(
            posthorn_curl_set_data(
                handle,
                CURLOPT_PRIVATE,
                UnsafeMutableRawPointer(bitPattern: UInt(transfer.id))
            ),
            posthorn_curl_set_data(handle, CURLOPT_ERRORBUFFER, transfer.errorText),
            posthorn_curl_set_writer(handle, CURLOPT_WRITEFUNCTION) {
                unsafe TransferCallbacks.write($0, $1, $2, $3)
            },
            posthorn_curl_set_data(handle, CURLOPT_WRITEDATA, context),
            posthorn_curl_set_writer(handle, CURLOPT_HEADERFUNCTION) {
                unsafe TransferCallbacks.header($0, $1, $2, $3)
            },
            posthorn_curl_set_data(handle, CURLOPT_HEADERDATA, context),
            posthorn_curl_set_reader(handle) { unsafe TransferCallbacks.read($0, $1, $2, $3) },
            posthorn_curl_set_data(handle, CURLOPT_READDATA, context),
            posthorn_curl_set_seeker(handle) { unsafe TransferCallbacks.seek($0, $1, $2) },
            posthorn_curl_set_data(handle, CURLOPT_SEEKDATA, context),
            posthorn_curl_set_socket_opener(handle) { unsafe TransferCallbacks.openSocket($0, $1, $2) },
            posthorn_curl_set_data(handle, CURLOPT_OPENSOCKETDATA, context),
            posthorn_curl_set_before_request(handle) {
                unsafe TransferCallbacks.beforeRequest($0, $1, $2, $3, $4)
            },
            posthorn_curl_set_data(handle, CURLOPT_PREREQDATA, context)
        )
    }

    private static func setSafety(
        _ handle: UnsafeMutableRawPointer,
        _ request: borrowing Request
    ) throws(ClientError) {
        let protocols = request.destination.allowsPlainText ? "https,http" : "https"
        try unsafe check(
            posthorn_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, protocols),
            posthorn_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            posthorn_curl_set_long(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            posthorn_curl_set_text(handle, CURLOPT_PROXY, ""),
            posthorn_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            posthorn_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            // Wait until it is known whether a new connection can be shared. TLS tells in the handshake; without TLS only the first
            // answer would tell, and nothing is shared anyway.
            posthorn_curl_set_long(handle, CURLOPT_PIPEWAIT, request.isSecure ? 1 : 0),
            posthorn_curl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1),
            posthorn_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            posthorn_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1),
            posthorn_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2),
            // A resumed session would skip the check of the server's certificate.
            posthorn_curl_set_long(handle, CURLOPT_SSL_SESSIONID_CACHE, 0),
            // The system's authorities change with a package update; libcurl would keep the old ones for a day.
            posthorn_curl_set_long(handle, CURLOPT_CA_CACHE_TIMEOUT, 60)
        )
    }

    private static func setIdentity(
        _ handle: UnsafeMutableRawPointer,
        _ identity: TLSIdentity?
    ) throws(ClientError) {
        if let authorities = identity?.authorities {
            try unsafe check(
                setBlob(handle, CURLOPT_CAINFO_BLOB, authorities),
                // Debian's libcurl would go on trusting the system's folder of authorities beside them.
                posthorn_curl_set_text(handle, CURLOPT_CAPATH, nil)
            )
        }
        if let pair = identity?.pair {
            try unsafe check(
                setBlob(handle, CURLOPT_SSLCERT_BLOB, pair.certificates),
                setBlob(handle, CURLOPT_SSLKEY_BLOB, pair.key),
                // With an empty passphrase an encrypted key is an error; without one OpenSSL asks on the terminal.
                posthorn_curl_set_text(handle, CURLOPT_KEYPASSWD, "")
            )
        }
    }

    private static func setLimits(
        _ handle: UnsafeMutableRawPointer,
        _ request: borrowing Request,
        _ configuration: Client.Configuration
    ) throws(ClientError) {
        let limits = request.limits
        try unsafe check(
            posthorn_curl_set_long(
                handle,
                CURLOPT_CONNECTTIMEOUT_MS,
                max(1, Int(limits.connect.clampedMilliseconds))
            ),
            posthorn_curl_set_long(handle, CURLOPT_TIMEOUT_MS, max(1, Int(limits.total.clampedMilliseconds))),
            posthorn_curl_set_size(
                handle,
                CURLOPT_MAXFILESIZE_LARGE,
                curl_off_t(max(1, limits.responseBody))
            ),
            posthorn_curl_set_long(handle, CURLOPT_MAXAGE_CONN, seconds(configuration.idleTime)),
            posthorn_curl_set_long(
                handle,
                CURLOPT_MAXLIFETIME_CONN,
                seconds(configuration.connectionLifetime)
            )
        )
    }

    private static func setContent(
        _ handle: UnsafeMutableRawPointer,
        _ request: borrowing Request,
        _ transfer: Transfer
    ) throws(ClientError) {
        try unsafe check(
            posthorn_curl_set_text(handle, CURLOPT_URL, request.url),
            posthorn_curl_set_list(handle, CURLOPT_HTTPHEADER, transfer.headerList)
        )
        if request.method == .post || request.method == .put {
            try unsafe check(
                posthorn_curl_set_long(handle, CURLOPT_POST, 1),
                posthorn_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
            )
        }
        if request.method == .put || request.method == .delete {
            try unsafe check(posthorn_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue))
        }
    }

    private static func setBlob(
        _ handle: UnsafeMutableRawPointer,
        _ option: CURLoption,
        _ bytes: [UInt8]
    ) -> CURLcode {
        unsafe bytes.withUnsafeBytes {
            unsafe posthorn_curl_set_blob(handle, option, $0.baseAddress, $0.count)
        }
    }

    /// libcurl takes 0 for "no limit"; the shortest here is a second.
    private static func seconds(_ duration: Duration) -> Int {
        max(1, Int(clamping: duration.components.seconds))
    }

    private static func check(_ codes: CURLcode...) throws(ClientError) {
        for code in codes where code != CURLE_OK { throw .option(code: Int(code.rawValue)) }
    }
}

extension Request {
    /// - Throws: ``ClientError`` for what would be another request, or none, once it is written out.
    func check() throws(ClientError) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .invalidURL }
        guard isSecure || (destination.allowsPlainText && url.prefix(7).lowercased() == "http://") else {
            throw .invalidURL
        }
        guard headers.allSatisfy(\.isWellFormed) else { throw .invalidHeader }
    }

    var isSecure: Bool { url.prefix(8).lowercased() == "https://" }

    /// The header lines as libcurl takes them; the caller frees the list.
    ///
    /// `Expect` is switched off: it would cost a round trip for every large body.
    func makeHeaderList() -> UnsafeMutablePointer<curl_slist>? {
        var list = unsafe curl_slist_append(nil, "Expect:")
        for header in headers {
            // "name;" is libcurl's way to write a header with an empty value.
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            unsafe list = curl_slist_append(list, line) ?? list
        }
        return unsafe list
    }
}
