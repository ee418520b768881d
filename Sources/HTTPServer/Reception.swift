/// Lets a server take over connections that were accepted elsewhere, so that several servers can stand behind one address.
///
/// It may outlive the server: what is handed over then is closed.
package struct Reception: Sendable {
    let core: Core

    /// Hands a connected socket over; from now on it is the server's, also where it closes it at once.
    package func take(_ descriptor: Int32) {
        core.adopt(descriptor)
    }
}
