import Glibc
import Testing

@testable import Sealing

struct `The random source` {
    @Test
    func `a million IVs are all different`() throws {
        var random = RandomSource()
        var bytes: [UInt8] = []
        var seen = Set<UInt64>(minimumCapacity: 1_000_000)
        var repeated = 0
        for _ in 0..<1_000_000 {
            bytes.removeAll(keepingCapacity: true)
            try random.append(12, to: &bytes)
            // Eight of the twelve bytes: by chance two of a million agree once in forty million runs.
            let half = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            if !seen.insert(half).inserted { repeated += 1 }
        }
        #expect(repeated == 0)
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 10_000])
    func `as many bytes as asked for are appended`(_ count: Int) throws {
        var random = RandomSource()
        var bytes: [UInt8] = [1, 2]
        try random.append(count, to: &bytes)
        #expect(bytes.count == count + 2 && bytes.starts(with: [1, 2]))
        // A thousand zeros by chance do not happen.
        if count > 1000 { #expect(bytes.count { $0 == 0 } < count / 20) }
    }

    @Test
    func `two sources and two secrets differ`() throws {
        var one = RandomSource()
        var two = RandomSource()
        var (left, right): ([UInt8], [UInt8]) = ([], [])
        try one.append(32, to: &left)
        try two.append(32, to: &right)
        #expect(left != right)
        let secrets = try [
            one.secret(count: 32).withBytes { Hex.text($0) },
            one.secret(count: 32).withBytes { Hex.text($0) },
        ]
        #expect(secrets[0] != secrets[1] && secrets[0].utf8.count == 64)
    }

    @Test
    func `a child process does not go on with its parent's block`() throws {
        var random = RandomSource()
        var before: [UInt8] = []
        try random.append(12, to: &before)
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        // Swift hides `fork`, rightly; the child here does nothing but draw, write and leave.
        let symbol = unsafe try #require(dlsym(nil, "fork"))
        let fork = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            var bytes: [UInt8] = []
            let drawn = (try? random.append(12, to: &bytes)) != nil
            _ = unsafe write(ends[1], bytes, drawn ? 12 : 0)
            _exit(0)
        }
        try #require(child > 0)
        close(ends[1])
        var theirs = [UInt8](repeating: 0, count: 12)
        #expect(unsafe read(ends[0], &theirs, 12) == 12)
        close(ends[0])
        waitpid(child, nil, 0)
        var ours: [UInt8] = []
        try random.append(12, to: &ours)
        #expect(ours != theirs)
    }
}
