internal import HTTPServer

/// Serves ``AdminRoutes`` from `init` to `deinit`, for an orchestrator and for Prometheus; few connections, small requests.
struct AdminServer: ~Copyable {
    private let server: Server

    /// Begins to listen; port 0 lets the system choose.
    init(host: String, port: UInt16, routes: AdminRoutes) throws(HostingError) {
        let address = ListenAddress(host: host, port: port)
        let limits = Server.Limits(
            headerBytes: 8 << 10,
            bodyBytes: 1 << 10,
            bodyTime: .seconds(5),
            connections: 64
        )
        do {
            server = try Server(Server.Configuration(listen: address, limits: limits)) { request in
                let answer = routes.answer(method: request.method, path: request.path)
                return Response(
                    status: answer.status,
                    headers: [HeaderField("content-type", answer.contentType)],
                    body: answer.body
                )
            }
        } catch {
            throw .cannotListen(address: address.description, reason: error.description)
        }
    }

    /// The real port.
    var port: UInt16 { server.port }
}
