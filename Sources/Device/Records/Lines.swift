/// The lines of a file that are not blank, with their numbers from 1.
struct Lines: Sequence, IteratorProtocol {
    private let file: [UInt8]
    private var position = 0
    private var number = 0

    init(_ file: [UInt8]) {
        self.file = file
    }

    mutating func next() -> (number: Int, range: Range<Int>)? {
        while position < file.count {
            number += 1
            let start = position
            var isBlank = true
            while position < file.count, file[position] != 0x0A {
                if file[position] > 0x20 { isBlank = false }
                position += 1
            }
            let range = start..<position
            position += 1
            if !isBlank { return (number, range) }
        }
        return nil
    }
}
