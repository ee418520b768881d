package import Push
import Sealing

extension Receiver {
    /// Opens one message with nothing but the initial secret, as `posthorn device open` does.
    ///
    /// A ciphertext of 1404 characters is framed, any other is the content itself. White space around it is dropped. The
    /// caller named the month, so the chain may move as far as ``KeyGeneration/defaultStepLimit``.
    ///
    /// - Parameters:
    ///   - secret: the initial secret.
    ///   - initialMonth: the month in which it was made.
    ///   - month: the month of the message's key.
    ///   - ciphertext: Base64.
    /// - Returns: the content.
    /// - Throws: ``OpenError``.
    package static func openOnce(
        secret: InitialSecret,
        initialMonth: Month,
        month: Month,
        ciphertext: [UInt8]
    ) throws(OpenError) -> [UInt8] {
        let text = trimmed(ciphertext)
        let message = try SealedMessage(
            month: Array(month.description.utf8),
            keyIdentifier: nil,
            ciphertext: text.span,
            format: text.count == SealedMessage.framedLength ? .framed : .unframed
        )
        var receiver = try make(stepLimit: KeyGeneration.defaultStepLimit)
        let registration = try receiver.register(secret, month: initialMonth, keyIdentifier: nil)
        return try receiver.open(message, with: registration)
    }

    /// A receiver, its one way to fail told as this module's error.
    static func make(stepLimit: Int, clock: Month? = nil) throws(OpenError) -> Receiver {
        do throws(SealingError) {
            return try Receiver(stepLimit: stepLimit, clock: clock)
        } catch {
            throw OpenError(error)
        }
    }

    private static func trimmed(_ text: [UInt8]) -> [UInt8] {
        let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        guard let first = text.firstIndex(where: { !blanks.contains($0) }),
            let last = text.lastIndex(where: { !blanks.contains($0) })
        else { return [] }
        return Array(text[first...last])
    }
}
