internal import DeadLetters
internal import Demonstration
internal import Device
internal import DispatchWorker
internal import EncryptWorker
internal import HTTPServer
internal import Hosting
internal import Kafka
internal import Lines
internal import LocalServices
internal import Postgres
internal import Registrar
internal import Schema
internal import Sealing
internal import Simulation

extension HostingError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .system: .software
        case .cannotListen: .configuration
        case .noFreeSlot: .temporary
        }
    }
}

extension OutputError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .readerLeft: .done
        case .failed: .inputOutput
        }
    }
}

extension LineError: ExitCoded {
    var exitCode: ExitCode { .noInput }
}

extension LocalServicesError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .missingProgram, .notReady: .unavailable
        case .system: .software
        }
    }
}

extension DemoError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .interrupted: .temporary
        case .notReady, .notPublished, .topic: .unavailable
        case .failed, .devices: .software
        }
    }
}

extension PostgresError: ExitCoded {
    var exitCode: ExitCode {
        switch kind {
        case .connectionLost, .readOnly, .timeout, .insufficientResources: .unavailable
        case .serialization, .deadlock, .cancelled, .interrupted, .rolledBack: .temporary
        case .permission, .statement, .usage: .configuration
        case .constraint, .data: .data
        case .decoding, .parameter, .other: .software
        }
    }

    var hint: String? {
        kind == .statement ? "Is the schema up to date? See 'posthorn migrate --status'." : nil
    }
}

extension SchemaError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .database(let error): error.exitCode
        case .failed(_, let error): error.isRetriable ? error.exitCode : .configuration
        case .edited, .newer, .gap, .endsTransaction: .configuration
        }
    }
}

extension SealingError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .notAuthentic, .wrongLength: .data
        case .unknownKey, .keyFile: .configuration
        case .library: .software
        }
    }

    var hint: String? {
        if case .keyFile(_, .missing) = self { "Make one with 'posthorn keys generate'." } else { nil }
    }
}

extension RegistrarError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .database(let error): error.exitCode
        case .sealing(let error): error.exitCode
        case .gatewayFaults, .unknownGateway, .gatewayInUse, .channelFault: .data
        case .impossibleMonth: .configuration
        case .conflict: .temporary
        }
    }

    var hint: String? {
        switch self {
        case .database(let error): error.hint
        case .sealing(let error): error.hint
        case .gatewayInUse: "See them with 'posthorn pushers count --gateway ORIGIN'."
        case .gatewayFaults, .unknownGateway, .channelFault, .impossibleMonth, .conflict: nil
        }
    }
}

extension EncryptError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .database(let error): error.exitCode
        case .kafka(let error): error.isFatal && !error.isDenied ? .temporary : error.exitCode
        case .sealing(let error): error.exitCode
        case .missingKey, .absurdMonth, .fenced: .configuration
        }
    }
}

extension DispatchError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .kafka(let error): error.isFatal && !error.isDenied ? .temporary : error.exitCode
        case .http, .system: .software
        }
    }
}

extension OpenError: ExitCoded {
    var exitCode: ExitCode { .data }
}

extension KafkaError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .property: .configuration
        case .failed: isUnknownTopic || isDenied ? .configuration : .unavailable
        }
    }

    var hint: String? {
        if isUnknownTopic { return KafkaError.missingTopicHint }
        return isDenied
            ? "Login and rights are the brokers' matter; see 'Rights' in docs/operations.md." : nil
    }

    /// Kafka does not tell a topic that is not there from one that must not be seen.
    fileprivate static let missingTopicHint =
        "Make the topics with 'posthorn topics create'; a topic that this login may not see looks the same."
}

extension ServerError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .unknownHost, .listen, .tls: .configuration
        case .library: .software
        }
    }
}

extension SimulationError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .record: .inputOutput
        case .addresses: .usage
        }
    }
}

extension DeadLettersError: ExitCoded {
    var exitCode: ExitCode {
        switch self {
        case .database(let error): error.exitCode
        case .kafka(let error): error.exitCode
        case .sealing(let error): error.exitCode
        case .locked: .locked
        case .lockLost, .unsettled, .stalled: .temporary
        case .unknownReplay, .replayDone, .topicRecreated, .notForPlaintext: .data
        case .unreadableReplay, .noSuchTopic: .configuration
        }
    }

    var hint: String? {
        switch self {
        case .database(let error): error.hint
        case .kafka(let error): error.hint
        case .sealing(let error): error.hint
        case .noSuchTopic: KafkaError.missingTopicHint
        case .unknownReplay, .replayDone: "See them with 'posthorn dead-letters audit'."
        case .locked, .lockLost, .unsettled, .stalled, .topicRecreated, .notForPlaintext, .unreadableReplay:
            nil
        }
    }
}
