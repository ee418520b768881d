import JSON

/// One line of `pushers import`: `{"user":"…","pusher":{…},"channels":{"ID":"enabled"}}`.
///
/// `pusher` is the body of `POST /pushers/set` and read by the same code. `channels` may be left out; a channel that
/// it does not name keeps its default.
package struct ImportLine {
    package var user: String
    package var command: PusherCommand
    /// In the order of the line; no channel twice.
    package var channels: [ChannelSetting]

    /// One channel's status.
    package struct ChannelSetting: Hashable, Sendable {
        package var channel: String
        package var status: ChannelStatus

        package init(channel: String, status: ChannelStatus) {
            self.channel = channel
            self.status = status
        }
    }

    /// Channels that one line may name; ours.
    package static let channelLimit = 256
    /// Bytes of a line.
    package static let documentLimit = 64 << 10

    /// - Parameters:
    ///   - line: the bytes of one JSON object.
    ///   - rules: what the service asks for.
    /// - Throws: ``RegistrationError``, its field seen from the line, such as `pusher.data.url` or
    ///   `channels.erp.task.close`.
    package init(_ line: [UInt8], rules: RegistrationRules) throws(RegistrationError) {
        do throws(ReadError) {
            var user: String?
            var command: PusherCommand?
            var channels: [ChannelSetting] = []
            let limits = Limits(documentBytes: Self.documentLimit, depth: 16)
            try Reader.read(line, limits: limits) { reader throws(ReadError) in
                try reader.readObject { name, reader throws(ReadError) in
                    switch name {
                    case "user": user = try reader.readUser()
                    case "pusher": command = try PusherCommand(&reader, rules)
                    case "channels":
                        channels =
                            try reader.readNullable { reader throws(ReadError) in try reader.readChannels() }
                            ?? []
                    default: break
                    }
                }
                if user == nil { throw reader.missing("user") }
                if command == nil { throw reader.missing("pusher") }
            }
            guard let user, let command else { throw ReadError(.missing, offset: 0) }
            self.user = user
            self.command = command
            self.channels = channels
        } catch {
            throw RegistrationError(error)
        }
    }
}

extension Reader {
    fileprivate mutating func readUser() throws(ReadError) -> String {
        let user = try readString()
        guard UserID.isValid(user.utf8.span) else { throw unacceptable("is not the name of a user") }
        return user
    }

    fileprivate mutating func readChannels() throws(ReadError) -> [ImportLine.ChannelSetting] {
        var settings: [ImportLine.ChannelSetting] = []
        try readObject { name, reader throws(ReadError) in
            let channel = name.text
            let text = try reader.readString()
            guard ChannelID.isValid(channel.utf8.span) else {
                throw reader.unacceptable("is not the name of a channel")
            }
            guard let status = ChannelStatus(rawValue: text) else {
                throw reader.unacceptable("is none of enabled, disabled, not_set")
            }
            settings.append(ImportLine.ChannelSetting(channel: channel, status: status))
        }
        guard settings.count <= ImportLine.channelLimit else {
            throw unacceptable("names more than \(ImportLine.channelLimit) channels")
        }
        return settings
    }
}
