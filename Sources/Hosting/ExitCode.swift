/// What the program's end means to who started it.
///
/// Source: sysexits.h of BSD for all but 0.
package enum ExitCode: Int32, Sendable {
    /// Done; for a worker, drained.
    case done = 0
    /// The command line is wrong.
    case usage = 64
    /// The input is wrong: some line, message or file was not what it should be.
    case data = 65
    /// An input file is not there or cannot be read.
    case noInput = 66
    /// A server that is needed did not answer.
    case unavailable = 69
    /// A fault of the program.
    case software = 70
    /// Output could not be written.
    case inputOutput = 74
    /// Not done this time; to be tried again: a drain that took too long.
    case temporary = 75
    /// Somebody else holds what is asked for: a lock on a topic.
    ///
    /// sysexits.h says "permission denied" by it.
    case locked = 77
    /// The settings are wrong, in the environment or in a file.
    case configuration = 78
}
