internal import Cmicrohttpd
internal import Glibc

extension RequestCycle {
    /// Copies the request line and the header lines with their places.
    ///
    /// - Returns: nil when libmicrohttpd has not told the target, or there are more than a thousand header lines.
    func readHead(_ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>) -> RequestHead? {
        let start = UInt(bitPattern: method)
        guard let target = connection.update({ $0.target }) else { return nil }
        var collector = Collector(start: start)
        let count = unsafe withUnsafeMutablePointer(to: &collector) { collector in
            unsafe posthorn_mhd_iterate_headers(
                handle,
                { context, _, name, nameSize, value, valueSize in
                    guard let collector = unsafe context?.assumingMemoryBound(to: Collector.self) else {
                        return posthorn_mhd_no
                    }
                    return unsafe collector.pointee.add(name, nameSize, value, valueSize)
                },
                collector
            )
        }
        guard count == collector.headers.count else { return nil }
        return unsafe RequestHead(
            method: part(method, start),
            target: RequestHead.Part(
                text: target.text,
                offset: offset(target.address, start),
                count: target.text.utf8.count
            ),
            version: part(version, start),
            headers: collector.headers,
            size: posthorn_mhd_header_size(handle)
        )
    }

    private func part(_ text: UnsafePointer<CChar>, _ start: UInt) -> RequestHead.Part {
        unsafe RequestHead.Part(
            text: String(cString: text),
            offset: offset(UInt(bitPattern: text), start),
            count: strlen(text)
        )
    }
}

/// Gathers header lines; those after the thousandth are not looked at, and the request is refused.
private struct Collector {
    let start: UInt
    var headers: [(name: RequestHead.Part, value: RequestHead.Part)] = []

    init(start: UInt) {
        self.start = start
    }

    mutating func add(
        _ name: UnsafePointer<CChar>?,
        _ nameSize: Int,
        _ value: UnsafePointer<CChar>?,
        _ valueSize: Int
    ) -> MHD_Result {
        guard headers.count < 1000, let name = unsafe name, let value = unsafe value else {
            return posthorn_mhd_no
        }
        unsafe headers.append((part(name, nameSize), part(value, valueSize)))
        return posthorn_mhd_yes
    }

    private func part(_ bytes: UnsafePointer<CChar>, _ count: Int) -> RequestHead.Part {
        let text = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        return RequestHead.Part(text: text, offset: offset(UInt(bitPattern: bytes), start), count: count)
    }
}

/// The distance of a place from the start of the request line; negative when it is elsewhere.
private func offset(_ place: UInt, _ start: UInt) -> Int {
    place >= start ? Int(clamping: place - start) : -1
}
