internal import Device
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// The command `posthorn device open`.
enum DeviceOpenCommand {
    static let iss = Option(
        optional: "iss",
        .secret(.text("HEX")),
        environment: "POSTHORN_DEVICE_ISS",
        help: "Initial shared secret of the registration, 64 hexadecimal digits."
    )
    static let issMonth = Option(
        optional: "iss-month",
        .text("yyyy-MM"),
        environment: .none,
        help: "Month in which the secret was made (time_iss_created)."
    )
    static let month = Option(
        optional: "month",
        .text("yyyy-MM"),
        environment: .none,
        help: "Month of the message's key (time_message_encrypted)."
    )
    static let ciphertext = Option(
        optional: "ciphertext",
        .text("BASE64|-"),
        environment: .none,
        help: "The message; - reads it from standard input."
    )
    static let registrations = Option(
        optional: "registrations",
        .file,
        environment: .none,
        help: "Lines as 'posthorn pushers import' takes them; together with --received."
    )
    static let received = Option(
        optional: "received",
        .file,
        environment: .none,
        help: "The record that 'posthorn simulate gateway --record' wrote."
    )

    static let command = Command(
        CommandSyntax(
            "device",
            "open",
            summary: "open messages as a device does",
            description: """
                With --iss, --iss-month, --month and --ciphertext: prints the content of one message. With --registrations and \
                --received: prints one JSON line for each item of a gateway's record, with id, user, pushkey and plaintext or error. \
                The exit code is 65 if anything did not open.
                """,
            groups: [
                OptionGroup("One message", iss, issMonth, month, ciphertext),
                OptionGroup("A whole record", registrations, received),
            ]
        ),
        run: run
    )

    /// A gateway's record of a long test run still fits in memory.
    private static let fileLimit = 2 << 30

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        if let registrations = values[registrations], let received = values[received] {
            return try openRecord(registrations, received, invocation)
        }
        guard let iss = values[iss], let issMonth = values[issMonth], let month = values[month],
            let ciphertext = values[ciphertext]
        else {
            throw Failure(
                .usage,
                "give --iss, --iss-month, --month and --ciphertext, or --registrations and --received",
                hint: "Try 'posthorn device open --help'."
            )
        }
        return try openOne(iss.reveal(), issMonth, month, ciphertext, invocation)
    }

    private static func openOne(
        _ iss: String,
        _ issMonth: String,
        _ month: String,
        _ ciphertext: String,
        _ invocation: Invocation
    ) throws -> ExitCode {
        guard let secret = InitialSecret(hex: Array(iss.utf8).span) else {
            throw Failure(.usage, "--iss: is not 64 hexadecimal digits")
        }
        guard let from = Month(issMonth) else { throw Failure(.usage, "--iss-month: is not yyyy-MM") }
        guard let to = Month(month) else { throw Failure(.usage, "--month: is not yyyy-MM") }
        let text = ciphertext == "-" ? try read("/dev/stdin") : Array(ciphertext.utf8)
        do throws(OpenError) {
            let content = try Receiver.openOnce(
                secret: secret,
                initialMonth: from,
                month: to,
                ciphertext: text
            )
            try? invocation.output.write(content)
            return .done
        } catch {
            throw Failure(.data, error.description)
        }
    }

    private static func openRecord(
        _ registrations: String,
        _ received: String,
        _ invocation: Invocation
    ) throws -> ExitCode {
        var records = try OpenRecords()
        var code = ExitCode.done
        for fault in records.addRegistrations(try read(registrations)) {
            Diagnostics.write("posthorn: \(registrations), line \(fault.line): \(fault.error)\n")
            code = .data
        }
        var writer = Writer()
        for item in records.open(try read(received)) {
            if !item.isOpened { code = .data }
            writer.removeAll()
            item.write(to: &writer)
            try invocation.output.write(writer.bytes)
        }
        return code
    }

    private static func read(_ path: String) throws -> [UInt8] {
        do throws(FileContent.Unreadable) {
            return try FileContent.read(path, limit: fileLimit)
        } catch {
            throw Failure(.noInput, "\(path) \(error)")
        }
    }
}
