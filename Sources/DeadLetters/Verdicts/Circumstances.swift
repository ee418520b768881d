package import Push

/// What the database knew when letters were judged: no more than they ask for.
package struct Circumstances: Hashable, Sendable {
    package struct Pusher: Hashable, Sendable {
        /// Month of the newest generation of its chain; nil without one.
        package var chainMonth: Month?
        package var registered: Timestamp

        package init(chainMonth: Month?, registered: Timestamp) {
            self.chainMonth = chainMonth
            self.registered = registered
        }
    }

    /// Those of the letters that are still registered.
    package var pushers: [PusherID: Pusher] = [:]
    /// Origins of all gateways on the list.
    package var gateways: Set<String> = []
    /// All channels.
    package var channels: Set<[UInt8]> = []
    /// All trigger types that belong to a channel.
    package var types: Set<[UInt8]> = []

    package init() {}
}
