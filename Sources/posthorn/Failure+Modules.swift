internal import Hosting

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
