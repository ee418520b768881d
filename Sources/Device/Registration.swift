package import Push

/// What a device keeps of one registration: the name of its chain, and the newest two generations of keys.
///
/// A class, because keys cannot be copied and a device has many registrations. Made by ``Receiver``, which alone moves its chain; both
/// stay on one thread.
package final class Registration {
    /// The chain's name; nil where the format has none.
    package let keyIdentifier: String?
    var chain: KeyChain

    init(keyIdentifier: String?, chain: consuming KeyChain) {
        self.keyIdentifier = keyIdentifier
        self.chain = chain
    }

    /// The months whose keys are kept, oldest first; one or two.
    package var months: [Month] { chain.months }
}
