import JSON

/// Why a registration, or a line of an import, is not accepted.
///
/// Names field and rule, never the value.
package struct RegistrationError: Error, Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// No JSON, or not the shape of a registration at all.
        case malformed = "malformedRequest"
        /// A required field is not there.
        case missing = "missingParameter"
        /// A field has a type or value that is not allowed.
        case invalid = "invalidParameter"
    }

    package var kind: Kind
    /// The way to the field, such as `data.url` or, in an import, `pusher.data.url`; empty for the whole.
    package var field: String
    /// What is wrong, for people.
    package var problem: String

    package init(_ kind: Kind, field: String, _ problem: String) {
        self.kind = kind
        self.field = field
        self.problem = problem
    }

    package var isRetriable: Bool { false }

    init(_ error: ReadError) {
        field = error.path
        problem = error.reason.description
        switch error.reason {
        case .missing: kind = .missing
        case .expected, .numberOutOfRange, .stringTooLong, .unacceptable, .duplicateName, .tooManyMembers,
            .tooManyElements:
            kind = field.isEmpty ? .malformed : .invalid
        default: kind = .malformed
        }
    }
}

extension RegistrationError: CustomStringConvertible {
    package var description: String {
        field.isEmpty ? problem : "\(field): \(problem)"
    }
}
