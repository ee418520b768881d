internal import Ccurl
internal import Glibc

/// One request on its way: all that libcurl points at, and what has come back.
///
/// The client holds it for as long as libcurl knows its address. The callbacks run inside the client's own calls, on its thread, so
/// nothing here is shared.
@safe final class Transfer {
    let id: UInt64
    let deadline: ContinuousClock.Instant
    let handle: UnsafeMutableRawPointer
    /// libcurl writes its own words about a failure here; read for classification, never shown.
    let errorText: UnsafeMutablePointer<CChar>
    let headerList: UnsafeMutablePointer<curl_slist>?
    let allowsPrivateAddresses: Bool
    let limits: Request.Limits
    let keptHeaders: [String]

    let body: [UInt8]
    private var sent = 0

    private(set) var responseHeaders: [HeaderField] = []
    private(set) var responseBody: [UInt8] = []
    private var headerBytes = 0
    private(set) var isTooLarge = false
    private(set) var refusedAddresses = 0
    private(set) var openedSockets = 0

    init(
        id: UInt64,
        request: borrowing Request,
        handle: UnsafeMutableRawPointer,
        headerList: UnsafeMutablePointer<curl_slist>?,
        keptHeaders: [String]
    ) {
        self.id = id
        unsafe self.handle = handle
        unsafe self.headerList = headerList
        self.keptHeaders = keptHeaders
        deadline = .now + request.limits.total
        allowsPrivateAddresses = request.destination.allowsPrivateAddresses
        limits = request.limits
        body = request.body
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe text.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe errorText = text
    }

    /// The handle itself is the client's.
    deinit {
        unsafe curl_slist_free_all(headerList)
        unsafe errorText.deallocate()
    }

    /// What libcurl hands to the callbacks; see ``at(_:)``.
    var context: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    static func at(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// The next bytes of the request's body.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, body.count - sent)
        guard count > 0 else { return 0 }
        unsafe body.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sent..<(sent + count)]))
        }
        sent += count
        return count
    }

    /// libcurl sends the body again after a kept connection turned out to be dead.
    func rewind(to offset: Int) -> Bool {
        guard (0...body.count).contains(offset) else { return false }
        sent = offset
        return true
    }

    /// - Returns: false when the answer is longer than the request allows; the transfer ends then.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limits.responseBody - responseBody.count else {
            isTooLarge = true
            return false
        }
        unsafe responseBody.append(contentsOf: bytes)
        return true
    }

    /// Takes one header line.
    ///
    /// A status line starts anew: the headers of interim answers (100, 103) are forgotten.
    func appendHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= limits.responseHeaders else {
            isTooLarge = true
            return false
        }
        if unsafe line.starts(with: "HTTP/".utf8) {
            responseHeaders.removeAll()
            return true
        }
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = unsafe String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard keptHeaders.contains(name) else { return true }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a }
        var value = unsafe line[(colon + 1)...].drop(while: isBlank)
        while let last = unsafe value.last, isBlank(last) { unsafe value.removeLast() }
        responseHeaders.append(HeaderField(name, unsafe String(decoding: value, as: UTF8.self)))
        return true
    }

    /// Whether a connection to this address may carry the request; counted, so that a failure can be told from an unreachable server.
    func permits(_ address: IPAddress?) -> Bool {
        guard let address, AddressKind(of: address).isPermitted(allowsPrivate: allowsPrivateAddresses) else {
            refusedAddresses += 1
            return false
        }
        openedSockets += 1
        return true
    }
}
