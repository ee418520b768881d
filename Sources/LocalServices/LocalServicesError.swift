/// What kept a local server or a child process from starting; the text says what to install or look at.
package enum LocalServicesError: Error, Equatable, CustomStringConvertible {
    /// A system call failed while preparing a process or a folder.
    case system(call: String, code: Int32)
    /// A program that must be installed was not found in any of the places named.
    case missingProgram(name: String, hint: String)
    /// A server ended or did not answer within its time; `log` is the end of what it wrote.
    case notReady(service: String, log: String)

    package var description: String {
        switch self {
        case .system(let call, let code): "\(call) failed with errno \(code)"
        case .missingProgram(let name, let hint): "\(name) was not found: \(hint)"
        case .notReady(let service, let log): "\(service) did not become ready; its last words:\n\(log)"
        }
    }
}
