package import LocalServices

/// A certificate authority of a test's own, made by the `openssl` command in a temporary folder.
package struct TestAuthority {
    package let folder: TemporaryFolder
    /// The authority's own certificate, PEM.
    package let path: String

    /// A certificate and its key, PEM files.
    package struct Pair: Sendable {
        package let certificate: String
        package let key: String
    }

    package enum Use: String, Sendable {
        case server = "serverAuth"
        case client = "clientAuth"
    }

    package init() throws {
        folder = try TemporaryFolder(prefix: "posthorn-tls")
        path = "\(folder.path)/ca.pem"
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", "\(folder.path)/ca.key", "-out", path, "-days", "30", "-subj",
            "/CN=Test CA \(uniqueName("ca"))",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        ])
        try openBooks()
    }

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - name: the common name, and the name of the files.
    ///   - use: for a server or a client.
    ///   - alternativeNames: in OpenSSL's notation.
    ///   - hasExpired: its time was in 2020; else it is valid for 30 days.
    /// - Returns: the paths of the certificate and its key.
    /// - Throws: ``LocalServicesError`` with the last words of `openssl`.
    package func issue(
        _ name: String,
        for use: Use,
        alternativeNames: String = "DNS:localhost,IP:127.0.0.1",
        hasExpired: Bool = false
    ) throws -> Pair {
        let base = "\(folder.path)/\(name)"
        let extensions =
            "subjectAltName=\(alternativeNames)\nextendedKeyUsage=\(use.rawValue)\nbasicConstraints=CA:false\n"
        try Files.write(extensions, to: "\(base).ext")
        try openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", "\(base).key", "-out", "\(base).csr", "-subj", "/CN=\(name)",
        ])
        // `openssl x509` issues from today on only; `openssl ca` takes any days.
        let validity =
            hasExpired ? ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"] : ["-days", "30"]
        try openssl(
            [
                "ca", "-batch", "-notext", "-config", "\(folder.path)/ca.cnf", "-cert", path, "-keyfile",
                "\(folder.path)/ca.key", "-in", "\(base).csr", "-extfile", "\(base).ext", "-out",
                "\(base).pem",
            ] + validity
        )
        return Pair(certificate: "\(base).pem", key: "\(base).key")
    }

    /// What `openssl ca` keeps its books in.
    private func openBooks() throws {
        let configuration = """
            [ca]
            default_ca = test
            [test]
            database = \(folder.path)/index.txt
            serial = \(folder.path)/serial
            new_certs_dir = \(folder.path)
            default_md = sha256
            unique_subject = no
            policy = any
            [any]
            commonName = supplied

            """
        try Files.write(configuration, to: "\(folder.path)/ca.cnf")
        try Files.write("", to: "\(folder.path)/index.txt")
        try Files.write("01\n", to: "\(folder.path)/serial")
    }

    private func openssl(_ arguments: [String]) throws {
        var command = ChildProcess.Command("openssl", arguments)
        let log = "\(folder.path)/openssl.log"
        command.output = .file(log)
        guard try ChildProcess.run(command) == .exited(0) else {
            throw LocalServicesError.notReady(service: "openssl", log: Files.tail(log))
        }
    }
}
