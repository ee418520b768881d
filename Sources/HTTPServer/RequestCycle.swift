internal import Cmicrohttpd
internal import Synchronization

/// The steps of one request, as libmicrohttpd calls for them on the connection's thread.
@safe struct RequestCycle {
    /// How much of a body that is not wanted is read and dropped all the same.
    ///
    /// A client that is cut off while it sends may never see why. More than this is answered at once and cut off.
    private static let toleratedBytes = 4 << 20

    let core: Core
    let connection: Connection
    let handle: OpaquePointer

    /// The first call of a request: the header is complete.
    func begin(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> MHD_Result {
        guard let head = unsafe readHead(method, version), head.fault == nil else {
            return refuse(.malformed)
        }
        let limits = core.configuration.limits
        if head.size > limits.headerBytes || head.headers.count > limits.headerFields {
            return refuse(.headersTooLarge)
        }
        var refusal: Refusal?
        if let length = head.contentLength, length > limits.bodyBytes {
            refusal = .bodyTooLarge(limit: limits.bodyBytes)
        }
        if core.credentials?.asksClient == true {
            if case .verified = connection.clientCertificate() {} else { refusal = .clientCertificate }
        }
        if let refusal, let length = head.contentLength, length > RequestCycle.toleratedBytes {
            return refuse(refusal)
        }
        connection.update { $0.accepted(head, refusing: refusal, at: .now) }
        return posthorn_mhd_yes
    }

    /// A call with bytes of the body.
    func take(_ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        let isTolerable = connection.update { progress in
            unsafe progress.append(bytes)
            return progress.excess <= RequestCycle.toleratedBytes
        }
        return isTolerable ? posthorn_mhd_yes : posthorn_mhd_no
    }

    /// A call without bytes: the body is complete, or an answer is ready.
    func proceed() -> MHD_Result {
        switch connection.update({ $0.stage }) {
        case .body: return handle(connection.update { ($0.completed(), $0.sequence) })
        case .ready(let answer): return send(answer)
        case .suspended, .answering, .pausing: return posthorn_mhd_yes
        case .waiting, .head, .handling, .closed: return posthorn_mhd_no
        }
    }

    private func handle(_ received: (body: [UInt8], sequence: UInt64)) -> MHD_Result {
        if let refusal = connection.update({ $0.refusal }) { return refuse(refusal) }
        guard let head = connection.update({ $0.head }) else { return posthorn_mhd_no }
        // In a scope of its own: a responder that the handler did not keep answers when it goes.
        do {
            let responder = Responder(connection: connection, sequence: received.sequence, core: core)
            do {
                try core.handle(request(head, received.body), responder)
            } catch {
                responder.answer(core.configuration.refuse(.handlerFailed))
            }
        }
        guard let answer = connection.handlerReturned() else { return posthorn_mhd_yes }
        return send(answer)
    }

    private func request(_ head: RequestHead, _ body: [UInt8]) -> Request {
        let target = head.target.text
        let mark = target.firstIndex(of: "?")
        var certificate: ClientCertificate?
        if core.configuration.tls != nil, case .verified(let verified) = connection.clientCertificate() {
            certificate = verified
        }
        return Request(
            method: head.method.text,
            path: String(target[..<(mark ?? target.endIndex)]),
            query: mark.map { String(target[target.index(after: $0)...]) },
            headers: head.headers.map { HeaderField($0.name.text, trimmed($0.value.text)) },
            body: body,
            peer: Peer(address: connection.address, certificate: certificate)
        )
    }

    private func send(_ answer: ConnectionProgress.Answer) -> MHD_Result {
        switch answer {
        case .close:
            return posthorn_mhd_no
        case .response(let response):
            let extra = response.pace?.time(for: response.body.count) ?? .zero
            connection.update { $0.sending(at: .now, extra: extra) }
            return queue(response) ? posthorn_mhd_yes : queueFallback()
        }
    }

    /// Answers for the server.
    ///
    /// After the header alone, libmicrohttpd closes the connection when the answer is out.
    private func refuse(_ refusal: Refusal) -> MHD_Result {
        send(.response(core.configuration.refuse(refusal)))
    }

    /// The handler's response cannot be written down (a status out of range, a line break in a header).
    private func queueFallback() -> MHD_Result {
        queue(Refusal.handlerFailed.standardResponse) ? posthorn_mhd_yes : posthorn_mhd_no
    }

    private func queue(_ response: Response) -> Bool {
        guard (200...599).contains(response.status) else { return false }
        let made =
            if let pace = response.pace {
                unsafe PacedAnswer.response(response.body, pace, core: core, connection: connection)
            } else {
                unsafe response.body.withUnsafeBytes {
                    unsafe posthorn_mhd_response($0.baseAddress, $0.count)
                }
            }
        guard let made = unsafe made else { return false }
        defer { unsafe MHD_destroy_response(made) }
        var headers = response.headers
        if core.isDraining.load(ordering: .relaxed) || !connection.uses(core.credentials) {
            headers.append(HeaderField("connection", "close"))
        }
        for header in headers {
            guard unsafe MHD_add_response_header(made, header.name, header.value) == posthorn_mhd_yes else {
                return false
            }
        }
        return unsafe MHD_queue_response(handle, UInt32(response.status), made) == posthorn_mhd_yes
    }
}

/// Without the blanks after it, which are not part of a header's value (those before it libmicrohttpd has skipped).
private func trimmed(_ value: String) -> String {
    guard let last = value.utf8.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return "" }
    return String(value[...last])
}
