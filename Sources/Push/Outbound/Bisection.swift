/// A part of a batch that was refused as a whole, on the way to finding the item that is to blame.
///
/// ```
/// refused: abcdefgh      send abcd, hold efgh
///   abcd taken           so the fault is in efgh: no need to send it whole; send ef, hold gh
///   abcd refused         send ab, hold cd; and send efgh, of which nothing is known
/// ```
///
/// Knowing that saves a request per level: one bad item among n costs at most 2·log2(n)+1 requests, the first included. No item is condemned
/// unless it was refused alone, so a refusal that was about the whole (its size, say) costs requests and loses nothing.
///
/// Invariant: over all pieces that come of a refused batch every item is in exactly one place, in the order it had.
struct Piece<Item: Sendable>: Sendable {
    /// To be sent, in this order.
    var items: [Item]
    /// The other half, held until this one's answer is there.
    var held: [Item] = []

    /// Splits what was refused, or must contain what is refused.
    ///
    /// The first half is the smaller: being wrong there costs one more request.
    static func halves(of items: [Item]) -> Piece {
        guard items.count > 1 else { return Piece(items: items) }
        let middle = items.count / 2
        return Piece(items: Array(items[..<middle]), held: Array(items[middle...]))
    }

    /// What to send after this piece was answered item by item.
    func afterAnswer() -> [Piece] {
        held.isEmpty ? [] : [.halves(of: held)]
    }

    /// What to send after this piece of more than one item was refused as well.
    func afterRefusal() -> [Piece] {
        var next: [Piece] = items.isEmpty ? [] : [.halves(of: items)]
        if !held.isEmpty { next.append(Piece(items: held)) }
        return next
    }
}
