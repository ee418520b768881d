internal import Glibc
internal import HTTPServer

/// A gateway that takes everything at once and hardly looks at it, so that what is measured is the lane and not its counterpart on the
/// same processors.
///
/// Knows batches of encrypted messages as the encrypt lane writes them, and answers `success` for each id; the simulated gateway, which checks
/// every character, would take more of the processors than the lane.
final class InstantGateway {
    private var server: Server

    init(port: UInt16) throws {
        server = try Server(
            Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: port)),
            handler: { request in
                guard let answer = Self.answer(to: request.body) else {
                    return .json(400, #"{"error":"Invalid data format"}"#)
                }
                return Response(
                    status: 200,
                    headers: [HeaderField("content-type", "application/json")],
                    body: answer
                )
            }
        )
    }

    func drain() -> Bool { server.drain(within: .seconds(5)) }

    private static let opening = Array(#"{"notifications":["#.utf8)
    private static let item = Array(#"{"id":""#.utf8)
    private static let rest = Array(#"","notification":{"#.utf8)
    private static let idLength = 36

    /// - Returns: nil if the body is not one that the encrypt and dispatch lanes have made.
    private static func answer(to body: [UInt8]) -> [UInt8]? {
        let body = body.span
        guard body.starts(with: opening, at: 0) else { return nil }
        var answer = Array(#"{"results":["#.utf8)
        var count = 0
        var place = opening.count
        while body.starts(with: item, at: place) {
            let id = place + item.count
            guard body.starts(with: rest, at: id + idLength) else { return nil }
            if count > 0 { answer.append(UInt8(ascii: ",")) }
            answer.append(contentsOf: item)
            for index in id..<(id + idLength) { answer.append(body[index]) }
            answer.append(contentsOf: #"","status":"success"}"#.utf8)
            count += 1
            place = body.next(item, from: id) ?? body.count
        }
        guard count > 0 else { return nil }
        let summary = #"],"summary":{"total":\#(count),"successful":\#(count),"failed":0,"partial":0}}"#
        answer.append(contentsOf: summary.utf8)
        return answer
    }
}

extension Span<UInt8> {
    fileprivate func starts(with bytes: [UInt8], at place: Int) -> Bool {
        guard place + bytes.count <= count else { return false }
        return bytes.indices.allSatisfy { self[place + $0] == bytes[$0] }
    }

    /// Where the next opening brace is that begins these bytes.
    ///
    /// The corresponding C function is `memchr`, which is fast where there are few braces.
    fileprivate func next(_ bytes: [UInt8], from place: Int) -> Int? {
        var place = place
        while place < count {
            let found: Int? = unsafe withUnsafeBytes { all in
                guard let base = all.baseAddress else { return nil }
                let brace = unsafe memchr(base + place, CInt(UInt8(ascii: "{")), all.count - place)
                return unsafe brace.map { unsafe UnsafeRawPointer($0) - base }
            }
            guard let found else { return nil }
            if starts(with: bytes, at: found) { return found }
            place = found + 1
        }
        return nil
    }
}
