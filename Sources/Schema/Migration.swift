/// One step of the schema: a file of plain SQL that is applied once and never edited afterwards.
package struct Migration: Sendable, Equatable {
    /// Counted from 1 without gaps; the four digits that the file's name begins with.
    package let version: Int32
    /// The rest of the file's name.
    package let name: String
    package let sql: String

    package init(version: Int32, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    fileprivate init(_ version: Int32, _ name: String, _ bytes: [UInt8]) {
        self.init(version: version, name: name, sql: String(decoding: bytes, as: UTF8.self))
    }

    /// The file's name, as in `migrations/`.
    package var fileName: String {
        let digits = String(version)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + "\(digits)_\(name).sql"
    }

    /// Every file of `migrations/`, in order.
    ///
    /// A new file gets a line here; a test holds the two together.
    package static let all: [Migration] = [
        Migration(1, "registrations", PackageResources._001_registrations_sql),
        Migration(2, "rejections", PackageResources._002_rejections_sql),
        Migration(3, "dead_letters", PackageResources._003_dead_letters_sql),
    ]
}
