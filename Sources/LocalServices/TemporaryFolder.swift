internal import Cglibc
internal import Glibc

/// A folder of its own below the system's temporary folder, removed with everything in it when its owner goes.
///
/// Only this user may enter it (mode 0700); ``give(to:)`` hands it to the unprivileged account that a server runs as.
package final class TemporaryFolder: Sendable {
    /// Absolute path without a trailing slash; short, because Unix sockets inside it are limited to 107 bytes.
    package let path: String

    /// - Parameter prefix: what the folder's name begins with.
    /// - Throws: ``LocalServicesError/system(call:code:)`` when the temporary folder cannot be written.
    ///
    /// The corresponding C function is `mkdtemp`.
    package init(prefix: String = "posthorn") throws(LocalServicesError) {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
        guard made else { throw .system(call: "mkdtemp", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { TemporaryFolder.remove(path) }

    /// Makes `account` the owner of the folder itself; does nothing for a process that is not root.
    package func give(to account: Account) throws(LocalServicesError) {
        guard getuid() == 0 else { return }
        guard unsafe chown(path, account.user, account.group) == 0 else {
            throw .system(call: "chown", code: errno)
        }
    }

    /// Removes a tree without following links; what cannot be removed stays.
    ///
    /// The corresponding C function is `nftw`.
    package static func remove(_ path: String) {
        _ = unsafe glibc_remove_tree(path)
    }
}

/// A Unix account by its numbers.
package struct Account: Sendable, Equatable {
    package let name: String
    package let user: UInt32
    package let group: UInt32

    /// The account called `name`, or nil when there is none.
    ///
    /// The corresponding C function is `getpwnam_r`.
    package init?(named name: String) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let count = buffer.count
        let code = unsafe buffer.withUnsafeMutableBufferPointer {
            unsafe getpwnam_r(name, &entry, $0.baseAddress!, count, &found)
        }
        guard unsafe code == 0 && found != nil else { return nil }
        self.name = name
        self.user = unsafe entry.pw_uid
        self.group = unsafe entry.pw_gid
    }
}
