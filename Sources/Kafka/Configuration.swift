import Crdkafka

/// The settings of a Kafka client: any property of librdkafka, by its own name.
///
/// A role's defaults fill in what is not set; the few properties that would break an adapter's promises are refused.
/// Nothing is checked before ``faults()`` or before a client is made of it.
///
/// Source: CONFIGURATION.md of librdkafka 2.0.2.
package struct Configuration: Sendable {
    private var values: [String: String]

    package init(_ properties: [String: String] = [:]) {
        values = properties
    }

    package subscript(_ property: String) -> String? {
        get { values[property] }
        set { values[property] = newValue }
    }

    package mutating func set(_ property: String, _ value: String) {
        values[property] = value
    }

    /// A copy with one property set, for composing without a variable.
    package func setting(_ property: String, _ value: String) -> Configuration {
        var copy = self
        copy.values[property] = value
        return copy
    }

    /// Every property that librdkafka does not know or whose value it refuses, by name.
    ///
    /// Faults that only show when several properties meet (a session longer than the poll interval) come up when a
    /// client is made.
    package func faults() -> [KafkaError] {
        let trial = ClientSettings()
        return values.sorted { $0.key < $1.key }.compactMap { property, value in
            trial.fault(setting: property, to: value)
        }
    }

    /// The properties with `defaults` underneath, in a fixed order so that faults are reproducible.
    func properties(over defaults: [String: String]) -> [(name: String, value: String)] {
        defaults.merging(values) { _, own in own }
            .sorted { $0.key < $1.key }
            .map { (name: $0.key, value: $0.value) }
    }

    var redaction: Redaction {
        Redaction(secrets: values.filter { Redaction.isSecret($0.key) }.map(\.value))
    }
}

extension Configuration: CustomStringConvertible {
    package var description: String {
        values.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(Redaction.isSecret($0.key) ? "redacted" : $0.value)" }
            .joined(separator: " ")
    }
}

/// Owns an `rd_kafka_conf_t` until a client takes it.
///
/// The corresponding C functions are `rd_kafka_conf_new`, `rd_kafka_conf_set` and `rd_kafka_conf_destroy`.
@safe
struct ClientSettings: ~Copyable {
    private let conf: OpaquePointer

    init() {
        unsafe conf = rd_kafka_conf_new()
    }

    deinit {
        unsafe rd_kafka_conf_destroy(conf)
    }

    var pointer: OpaquePointer { unsafe conf }

    /// A copy for `rd_kafka_new`, which takes it over if it succeeds.
    func copy() -> OpaquePointer {
        unsafe rd_kafka_conf_dup(conf)
    }

    func set(_ property: String, _ value: String) throws(KafkaError) {
        if let fault = fault(setting: property, to: value) { throw fault }
    }

    func fault(setting property: String, to value: String) -> KafkaError? {
        if let refusal = Self.refusal(property, value) {
            return .property(name: property, problem: refusal)
        }
        var text = [CChar](repeating: 0, count: 512)
        let result = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe rd_kafka_conf_set(conf, property, value, buffer.baseAddress, buffer.count)
        }
        switch result {
        case RD_KAFKA_CONF_OK:
            return nil
        case RD_KAFKA_CONF_UNKNOWN:
            return .property(name: property, problem: "librdkafka does not know this property")
        default:
            if Redaction.isSecret(property) {
                return .property(name: property, problem: "its value is refused (and not shown)")
            }
            return .property(name: property, problem: cText(text))
        }
    }

    /// What would break a promise of this module, with the reason.
    private static func refusal(_ property: String, _ value: String) -> String? {
        switch property {
        case "partition.assignment.strategy" where value.contains("cooperative"):
            // 2.0.2 pauses the partitions that stay during an incremental rebalance. Its batch call then throws
            // away what it holds of them, yet resumes behind it: records would be skipped without a word.
            // (rd_kafka_purge_outdated_messages, rd_kafka_toppar_pause_resume)
            "cooperative assignment can skip records with librdkafka 2.0.2; use range or roundrobin"
        case "enabled_events", "log.queue":
            "this is set by the adapter"
        default:
            nil
        }
    }
}

/// The text of a C buffer up to its terminator.
func cText(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
