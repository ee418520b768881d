import JSON
import Push

/// Opens what a gateway has recorded, as all the devices of an import file together.
///
/// The record may hold a device's messages in any order, and a chain moves forward only; so they are opened in the order of their months
/// and reported in the order of the record.
package struct OpenRecords: ~Copyable {
    /// A line of the import file that does not read.
    package struct LineFault: Error, Sendable {
        /// Counted from 1.
        package let line: Int
        package let error: OpenError
    }

    /// One registration of a device: whose, and its chain where messages are sealed.
    private struct Registered {
        let user: String
        let registration: Registration?
    }

    private var receiver: Receiver
    /// The registrations of each device, the last one first: a device may have been registered again, or by two users.
    private var devices: [PusherAddress: [Registered]] = [:]

    package init() throws(OpenError) {
        receiver = try Receiver.make(stepLimit: KeyGeneration.defaultStepLimit)
    }

    /// Takes in an import file, one registration a line; blank lines are skipped.
    ///
    /// - Returns: the lines that do not read; the others are taken in.
    package mutating func addRegistrations(_ file: [UInt8]) -> [LineFault] {
        var faults: [LineFault] = []
        for line in Lines(file) {
            do throws(OpenError) {
                try addRegistration(file, line.range)
            } catch {
                faults.append(LineFault(line: line.number, error: error))
            }
        }
        return faults
    }

    /// Opens every item of a gateway's record, one JSON object a line.
    ///
    /// - Returns: one result for each item and device, in the order of the record; one for a line that does not read.
    package mutating func open(_ record: [UInt8]) -> [OpenedItem] {
        var items: [ReceivedItem] = []
        for line in Lines(record) { items += ReceivedItem.items(record, in: line.range) }
        let months = items.map(\.monthOrder)
        let order = items.indices.sorted { (months[$0], $0) < (months[$1], $1) }
        var results = [OpenedItem?](repeating: nil, count: items.count)
        for index in order { results[index] = open(items[index]) }
        return results.compactMap { $0 }
    }

    private mutating func addRegistration(_ file: [UInt8], _ range: Range<Int>) throws(OpenError) {
        let line: RegistrationLine
        do throws(ReadError) {
            line = try RegistrationLine(file, in: range)
        } catch {
            throw .malformedLine(error)
        }
        var registration: Registration?
        if let keys = line.keys {
            registration = try receiver.register(
                keys.initialSecret,
                month: keys.month,
                keyIdentifier: keys.identifier
            )
        }
        devices[line.address, default: []].insert(
            Registered(user: line.user, registration: registration),
            at: 0
        )
    }

    private mutating func open(_ item: ReceivedItem) -> OpenedItem {
        let known = item.address.flatMap { devices[$0] } ?? []
        var user = known.first?.user
        let outcome: Result<[UInt8], OpenError>
        switch item.body {
        case .faulty(let error): outcome = .failure(error)
        case _ where known.isEmpty: outcome = .failure(.unknownDevice)
        case .plain(let content): outcome = .success(content)
        case .sealed(let message): outcome = open(message, as: known, &user)
        }
        return OpenedItem(id: item.id, user: user, pushkey: item.address?.pushkey, outcome: outcome)
    }

    /// Tries each registration of the device that the message may be for; the key decides.
    private mutating func open(
        _ message: SealedMessage,
        as known: [Registered],
        _ user: inout String?
    ) -> Result<[UInt8], OpenError> {
        var failure = OpenError.unknownKeyIdentifier
        for device in known {
            guard let registration = device.registration else { continue }
            do throws(OpenError) {
                let content = try receiver.open(message, with: registration)
                user = device.user
                return .success(content)
            } catch .unknownKeyIdentifier {
                continue
            } catch {
                failure = error
                user = device.user
            }
        }
        return .failure(failure)
    }
}
