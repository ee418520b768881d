/// Whose habits a simulated gateway has, as far as they are not in a ``GatewayConduct``.
package enum GatewayManner: Sendable, Equatable {
    /// Checks and answers as the Push Gateway API 1.2.0 says.
    case specified
    /// Checks and answers as gematik's own gateway, release 1.0.0, was seen to.
    ///
    /// | | |
    /// |---|---|
    /// | one item with a wrong field | 400 for the whole batch, in the framework's body, which names neither |
    /// | an app that it does not know | that item is `failed` |
    /// | results | each once, `rejected` and `error` always present |
    /// | identical items | collapse into one before anything is counted |
    /// | lengths, months, Base64 | unchecked, except for the 1404 characters of a ciphertext |
    ///
    /// `knownApps`: nil takes every app whose last component is `apns` or `firebase`.
    case reference(knownApps: Set<String>?)
}
