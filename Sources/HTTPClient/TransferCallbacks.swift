internal import Ccurl
internal import Glibc

/// What libcurl calls while it drives a transfer.
///
/// Each copies bytes or sets state in the transfer and returns.
enum TransferCallbacks {
    /// Gives the next bytes of the request's body (`CURLOPT_READFUNCTION`).
    static func read(
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ size: Int,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let transfer = unsafe Transfer.at(context), let buffer = unsafe buffer else {
            return Int(CURL_READFUNC_ABORT)
        }
        return unsafe transfer.read(
            into: UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(buffer), count: size * count)
        )
    }

    /// Goes back in the request's body (`CURLOPT_SEEKFUNCTION`).
    static func seek(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: CInt) -> CInt {
        guard let transfer = unsafe Transfer.at(context), origin == SEEK_SET else {
            return CURL_SEEKFUNC_CANTSEEK
        }
        return transfer.rewind(to: Int(offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }

    /// Takes bytes of the answer's body (`CURLOPT_WRITEFUNCTION`).
    static func write(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ size: Int,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let transfer = unsafe Transfer.at(context) else { return 0 }
        let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe transfer.append(chunk) ? chunk.count : 0
    }

    /// Takes one line of the answer's header (`CURLOPT_HEADERFUNCTION`).
    static func header(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ size: Int,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let transfer = unsafe Transfer.at(context) else { return 0 }
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe transfer.appendHeader(line) ? line.count : 0
    }

    /// Decides about an address at the last moment, when a connection to it is about to be made (`CURLOPT_OPENSOCKETFUNCTION`).
    static func openSocket(
        _ context: UnsafeMutableRawPointer?,
        _ purpose: curlsocktype,
        _ address: UnsafeMutablePointer<curl_sockaddr>?
    ) -> curl_socket_t {
        guard let transfer = unsafe Transfer.at(context), let address = unsafe address else {
            return CURL_SOCKET_BAD
        }
        let resolved = unsafe withUnsafePointer(to: &address.pointee.addr) { pointer in
            unsafe IPAddress(pointer, length: Int(address.pointee.addrlen))
        }
        guard transfer.permits(resolved) else { return CURL_SOCKET_BAD }
        let type = unsafe address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue)
        return unsafe socket(address.pointee.family, type, address.pointee.protocol)
    }

    /// Decides about the address of a kept connection (`CURLOPT_PREREQFUNCTION`).
    ///
    /// It was opened for an earlier request, which may have been allowed more.
    static func beforeRequest(
        _ context: UnsafeMutableRawPointer?,
        _ remoteAddress: UnsafeMutablePointer<CChar>?,
        _ localAddress: UnsafeMutablePointer<CChar>?,
        _ remotePort: CInt,
        _ localPort: CInt
    ) -> CInt {
        guard let transfer = unsafe Transfer.at(context), let remoteAddress = unsafe remoteAddress else {
            return CURL_PREREQFUNC_ABORT
        }
        let address = unsafe IPAddress(String(cString: remoteAddress))
        return transfer.permits(address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
}
