internal import Push

/// What can happen in the demonstration's health service, an imagined e-prescription service.
///
/// | kind | channel's default | devices that say otherwise |
/// |---|---|---|
/// | issued | enabled | one in ten wants none |
/// | dispensed | enabled | one in five wants none |
/// | message | not_set | every second one wants them |
enum EventKind: Int, CaseIterable, Sendable {
    case issued
    case dispensed
    case message

    /// The CloudEvents type.
    var type: String { "example.\(channel)" }

    var channel: String {
        switch self {
        case .issued: "prescription.issued"
        case .dispensed: "prescription.dispensed"
        case .message: "pharmacy.message"
        }
    }

    var defaultStatus: ChannelStatus {
        switch self {
        case .issued, .dispensed: .enabled
        case .message: .notSet
        }
    }

    /// What the device with this number said about the channel; nil if nothing, so that the default holds.
    func choice(ofDevice index: Int) -> ChannelStatus? {
        switch self {
        case .issued: index % 10 == 3 ? .disabled : nil
        case .dispensed: index % 5 == 1 ? .disabled : nil
        case .message: index % 2 == 0 ? .enabled : nil
        }
    }

    /// Whether the device with this number is to be told.
    func isWanted(byDevice index: Int) -> Bool {
        (choice(ofDevice: index) ?? defaultStatus) == .enabled
    }

    var title: String {
        switch self {
        case .issued: "New prescription"
        case .dispensed: "Prescription redeemed"
        case .message: "Message from your pharmacy"
        }
    }

    /// A sentence that differs from event to event.
    func body(_ number: Int) -> String {
        let doctor = Self.doctors[number % Self.doctors.count]
        let pharmacy = Self.pharmacies[number % Self.pharmacies.count]
        return switch self {
        case .issued: "\(doctor) has issued prescription no. \(number) for you."
        case .dispensed: "\(pharmacy) has dispensed prescription no. \(number)."
        case .message: "\(pharmacy): order no. \(number) is ready for you."
        }
    }

    private static let doctors = ["Dr. Okafor", "Dr. Lindqvist", "Dr. Yılmaz", "Dr. Weber", "Dr. Novák"]
    private static let pharmacies = ["Rose Pharmacy", "Lion Pharmacy", "Pharmacy at the Bridge"]
}
