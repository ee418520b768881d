internal import Device
internal import JSON
internal import Push
internal import Simulation
internal import Synchronization

/// One message that is shown from both sides: as it went over the wire, and as its device shows it.
package struct Exhibit: Sendable {
    let id: String
    let month: String
    let keyIdentifier: String
    /// Base64.
    let ciphertext: String
    let message: Message
    /// The device's number.
    let device: Int
}

/// Keeps the first message that is worth showing.
final class Showcase: Sendable {
    private let kept = Mutex<Exhibit?>(nil)

    var exhibit: Exhibit? { kept.withLock { $0 } }

    func offer(_ item: ReceivedItem, _ message: Message, device: Int) {
        kept.withLock { kept in
            if kept == nil { kept = Exhibit(item, message, device: device) }
        }
    }
}

extension Exhibit {
    fileprivate init?(_ item: ReceivedItem, _ message: Message, device: Int) {
        var ciphertext = ""
        var month = ""
        var keyIdentifier = ""
        do throws(ReadError) {
            try Reader.read(item.notification) { reader throws(ReadError) in
                try reader.readObject { name, reader throws(ReadError) in
                    switch name {
                    case "ciphertext": ciphertext = try reader.readString()
                    case "time_message_encrypted": month = try reader.readString()
                    case "key_identifier": keyIdentifier = try reader.readString()
                    default: break
                    }
                }
            }
        } catch {
            return nil
        }
        self.id = item.id ?? ""
        self.month = month
        self.keyIdentifier = keyIdentifier
        self.ciphertext = ciphertext
        self.message = message
        self.device = device
    }

    /// Whether it opens with the secret of `device`, whoever it was for.
    func opens(with device: Population.Device) -> Bool {
        guard let secret = InitialSecret(bytes: device.secret.span), let month = Month(month) else {
            return false
        }
        do throws(OpenError) {
            _ = try Receiver.openOnce(
                secret: secret,
                initialMonth: device.month,
                month: month,
                ciphertext: Array(ciphertext.utf8)
            )
            return true
        } catch {
            return false
        }
    }
}
