internal import Glibc

/// The lines of a file or of standard input, one at a time and of bounded length.
///
/// Lines end with LF; the last one need not. Empty ones are passed over, but counted. A line longer than the limit is reported and passed
/// over, so that a file without line ends costs no more memory than any other. One thread's own.
///
/// The corresponding C functions are `open`, `read` and `fstat`.
package struct LineReader: ~Copyable {
    /// What came next.
    package enum Line: Sendable, Equatable {
        /// A line was put into the caller's buffer.
        case line
        /// A line had more bytes than ``limit`` and was passed over.
        case tooLong
    }

    /// 64 KiB: a registration or an event has about 2 KB.
    package static let defaultLimit = 64 << 10
    private static let blockSize = 256 << 10

    /// The file's name for messages.
    package let name: String
    /// Bytes that a line may have, its end not counted.
    package let limit: Int
    /// The number of the line that came last, from 1; empty lines count.
    package private(set) var number = 0
    /// How far the lines that came reach, in bytes.
    package private(set) var position: Int64 = 0
    /// The file's size in bytes; nil for what is no regular file, such as a pipe.
    package let size: Int64?

    private let descriptor: Int32
    private let isOwned: Bool
    private var block: [UInt8]
    private var unread = 0..<0
    private var isAtEnd = false

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: where it is; `-` for standard input.
    ///   - limit: bytes that a line may have.
    /// - Throws: ``LineError`` when it cannot be opened.
    package init(_ path: String, limit: Int = defaultLimit) throws(LineError) {
        if path == "-" {
            self.init(descriptor: STDIN_FILENO, name: "standard input", isOwned: false, limit: limit)
            return
        }
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw LineError(name: path, code: errno) }
        self.init(descriptor: file, name: path, isOwned: true, limit: limit)
    }

    private init(descriptor: Int32, name: String, isOwned: Bool, limit: Int) {
        self.descriptor = descriptor
        self.name = name
        self.isOwned = isOwned
        self.limit = limit
        block = [UInt8](repeating: 0, count: Self.blockSize)
        var status = stat()
        let isRegular = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int64(status.st_size) : nil
    }

    deinit { if isOwned { close(descriptor) } }

    /// Reads the next line that is not empty.
    ///
    /// - Parameter line: gets the line without its end, in the place of what it held; nothing after ``Line/tooLong``.
    /// - Returns: nil at the end.
    /// - Throws: ``LineError`` when reading fails.
    package mutating func next(into line: inout [UInt8]) throws(LineError) -> Line? {
        while true {
            guard let length = try readLine(into: &line) else { return nil }
            number += 1
            if length > limit {
                line.removeAll(keepingCapacity: true)
                return .tooLong
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if !line.isEmpty { return .line }
        }
    }

    /// - Returns: the line's length, of which no more than `limit` + 1 bytes are kept; nil at the end.
    private mutating func readLine(into line: inout [UInt8]) throws(LineError) -> Int? {
        line.removeAll(keepingCapacity: true)
        var length = 0
        while true {
            if unread.isEmpty {
                guard try fill() else { return length > 0 ? length : nil }
            }
            let end = lineEnd()
            let piece = unread.lowerBound..<(end ?? unread.upperBound)
            let room = max(0, limit + 1 - line.count)
            line.append(contentsOf: block[piece.lowerBound..<(piece.lowerBound + min(room, piece.count))])
            length += piece.count
            position += Int64(piece.count)
            unread = piece.upperBound..<unread.upperBound
            if end != nil {
                unread = (unread.lowerBound + 1)..<unread.upperBound
                position += 1
                return length
            }
        }
    }

    /// Where the line that begins in the unread part ends, if it ends there.
    ///
    /// The corresponding C function is `memchr`.
    private func lineEnd() -> Int? {
        unsafe block.withUnsafeBytes { bytes in
            guard let start = unsafe bytes.baseAddress.map({ unsafe $0 + unread.lowerBound }),
                let found = unsafe memchr(start, Int32(UInt8(ascii: "\n")), unread.count)
            else { return nil }
            return unsafe unread.lowerBound + (UnsafeRawPointer(found) - start)
        }
    }

    /// - Returns: false at the end.
    private mutating func fill() throws(LineError) -> Bool {
        guard !isAtEnd else { return false }
        while true {
            let count = unsafe block.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw LineError(name: name, code: errno)
            }
            isAtEnd = count == 0
            unread = 0..<count
            return count > 0
        }
    }
}

/// A file of lines cannot be opened or read.
package struct LineError: Error, Sendable, Equatable {
    package let name: String
    /// The system's `errno`.
    package let code: Int32

    package var isRetriable: Bool { false }
}

extension LineError: CustomStringConvertible {
    package var description: String { unsafe "\(name) cannot be read: \(String(cString: strerror(code)))" }
}
