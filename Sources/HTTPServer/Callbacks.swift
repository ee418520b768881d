internal import Cmicrohttpd
internal import Glibc

/// What libmicrohttpd calls, on its own threads, with integers in place of our objects.
enum Callbacks {
    /// A connection was accepted (before its TLS handshake), or is about to be closed (`MHD_OPTION_NOTIFY_CONNECTION`).
    static func connection(
        _ server: UnsafeMutableRawPointer?,
        _ handle: OpaquePointer?,
        _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        _ code: MHD_ConnectionNotificationCode
    ) {
        guard let core = unsafe core(server), let handle = unsafe handle, let context = unsafe context else {
            return
        }
        if posthorn_mhd_is_start(code) != 0 {
            let connection = unsafe Connection(
                handle: handle,
                credentials: core.credentials,
                limits: core.configuration.limits
            )
            unsafe context.pointee = UnsafeMutableRawPointer(bitPattern: core.add(connection))
        } else {
            unsafe core.remove(UInt(bitPattern: context.pointee))
        }
    }

    /// The first line of a request is there (`MHD_OPTION_URI_LOG_CALLBACK`).
    static func requestLine(
        _ server: UnsafeMutableRawPointer?,
        _ target: UnsafePointer<CChar>?,
        _ handle: OpaquePointer?
    ) -> UnsafeMutableRawPointer? {
        guard let (_, connection) = unsafe find(server, handle), let target = unsafe target else {
            return nil
        }
        let text = unsafe String(cString: target)
        let address = UInt(bitPattern: target)
        connection.update { $0.began(target: text, address: address, at: .now) }
        return nil
    }

    /// A request has come as far as its header, has more of its body, or is complete (`MHD_AccessHandlerCallback`).
    ///
    /// `marker` is nil in the first call of a request.
    static func handle(
        _ server: UnsafeMutableRawPointer?,
        _ handle: OpaquePointer?,
        _ method: UnsafePointer<CChar>?,
        _ version: UnsafePointer<CChar>?,
        _ bytes: UnsafePointer<CChar>?,
        _ count: UnsafeMutablePointer<Int>?,
        _ marker: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        guard let (core, connection) = unsafe find(server, handle), let handle = unsafe handle,
            let count = unsafe count, let marker = unsafe marker
        else { return posthorn_mhd_no }
        let cycle = unsafe RequestCycle(core: core, connection: connection, handle: handle)
        if unsafe marker.pointee == nil {
            guard let method = unsafe method, let version = unsafe version else { return posthorn_mhd_no }
            unsafe marker.pointee = UnsafeMutableRawPointer(bitPattern: 1)
            return unsafe cycle.begin(method: method, version: version)
        }
        guard unsafe count.pointee > 0 else { return cycle.proceed() }
        let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: count.pointee)
        unsafe count.pointee = 0
        return unsafe cycle.take(chunk)
    }

    /// A request has ended, answered or not (`MHD_OPTION_NOTIFY_COMPLETED`).
    static func completed(_ server: UnsafeMutableRawPointer?, _ handle: OpaquePointer?) {
        unsafe find(server, handle)?.connection.update { $0.finished(at: .now) }
    }

    private static func core(_ server: UnsafeMutableRawPointer?) -> Core? {
        Registry.core(UInt(bitPattern: server))
    }

    private static func find(
        _ server: UnsafeMutableRawPointer?,
        _ handle: OpaquePointer?
    ) -> (core: Core, connection: Connection)? {
        guard let core = unsafe core(server), let handle = unsafe handle,
            let connection = unsafe core.connection(UInt(bitPattern: posthorn_mhd_context(handle)))
        else { return nil }
        return (core, connection)
    }
}
