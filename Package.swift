// swift-tools-version: 6.2
import PackageDescription

/// One strictness for every target: warnings are errors, unsafe code is marked, imports say what they expose.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func cLibrary(_ name: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/CLibraries/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

/// A room of the house; `dependencies` is all it may touch (see CONTRIBUTING.md).
func room(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.byName(name: name)] + dependencies,
        resources: resources,
        swiftSettings: strict
    )
}

let package = Package(
    name: "posthorn",
    products: [
        .executable(name: "posthorn", targets: ["posthorn"]),
        .executable(name: "posthorn-bench", targets: ["Benchmarks"]),
    ],
    targets: [
        // C libraries
        cLibrary("Crdkafka", pkgConfig: "rdkafka", package: "librdkafka-dev"),
        cLibrary("Cpq", pkgConfig: "libpq", package: "libpq-dev"),
        cLibrary("Ccurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        cLibrary("Copenssl", pkgConfig: "libcrypto", package: "libssl-dev"),
        cLibrary("Cmicrohttpd", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        .target(name: "Cglibc", path: "Sources/CLibraries/Cglibc"),

        // Small, each for one thing
        room("JSON"),
        room("Telemetry", ["JSON"]),
        room("Settings"),
        room("Lines"),
        room("Lanes", ["Cglibc"]),

        // The domain
        room("Push", ["JSON"]),

        // One adapter per C library; none imports another
        room("Sealing", ["Copenssl"]),
        room("Kafka", ["Crdkafka", "Cglibc"]),
        room("Postgres", ["Cpq"]),
        room("HTTPClient", ["Ccurl"]),
        room("HTTPServer", ["Cmicrohttpd"]),

        // What every role's process shares
        room("Hosting", ["Cglibc", "HTTPServer", "JSON", "Lanes", "Telemetry"]),
        room("Schema", ["Postgres"], resources: [.embedInCode("migrations")]),

        // The roles
        room("KeyChains", ["Push", "Sealing"]),
        room("Registrar", ["JSON", "KeyChains", "Postgres", "Push", "Sealing"]),
        room("Intake", ["JSON", "Kafka", "Push"]),
        room(
            "EncryptWorker",
            ["Kafka", "KeyChains", "Lanes", "Postgres", "Push", "Registrar", "Sealing", "Telemetry"]
        ),
        room(
            "DispatchWorker",
            ["HTTPClient", "JSON", "Kafka", "Lanes", "Postgres", "Push", "Registrar", "Sealing", "Telemetry"]
        ),
        room("DeadLetters", ["JSON", "Kafka", "Lanes", "Postgres", "Push", "Sealing"]),
        room("Device", ["JSON", "KeyChains", "Push", "Sealing"]),

        // Stand-ins, and real servers in temporary folders
        room("Simulation", ["Cglibc", "Device", "HTTPServer", "JSON", "Push"]),
        room("LocalServices", ["Cglibc"]),

        // The whole way in one process
        room(
            "Demonstration",
            [
                "Device", "DispatchWorker", "EncryptWorker", "HTTPServer", "Intake", "JSON", "Kafka", "Lanes",
                "LocalServices", "Postgres", "Push", "Registrar", "Schema", "Sealing", "Simulation",
                "Telemetry",
            ]
        ),

        // The program
        .executableTarget(
            name: "posthorn",
            dependencies: [
                "DeadLetters", "Demonstration", "Device", "DispatchWorker", "EncryptWorker", "HTTPClient",
                "HTTPServer", "Hosting", "Intake",
                "JSON", "Kafka",
                "Lanes", "Lines", "LocalServices", "Postgres", "Push", "Registrar", "Schema", "Sealing",
                "Settings",
                "Simulation",
                "Telemetry",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "DeadLetters", "Device", "DispatchWorker", "EncryptWorker", "HTTPClient", "HTTPServer",
                "Hosting", "Intake",
                "JSON", "Kafka",
                "Lanes", "Lines", "LocalServices", "Postgres", "Push", "Registrar", "Schema", "Sealing",
                "Settings",
                "Simulation",
                "Telemetry",
            ],
            path: "Benchmarks",
            swiftSettings: strict
        ),

        // Tests mirror Sources
        .target(
            name: "Support",
            dependencies: ["LocalServices", "Schema", "Postgres", "Kafka"],
            path: "Tests/Support",
            swiftSettings: strict
        ),
        tests("JSON"),
        tests("Telemetry", ["JSON"]),
        tests("Settings"),
        tests("Lines", ["LocalServices"]),
        tests("Lanes"),
        tests("Push", ["JSON"]),
        tests("Sealing", ["JSON"], resources: [.embedInCode("Resources")]),
        tests("Kafka", ["LocalServices", "Support"]),
        tests("Postgres", ["LocalServices", "Support"]),
        tests("HTTPClient", ["HTTPServer", "LocalServices", "Support"]),
        tests("HTTPServer", ["HTTPClient", "LocalServices", "Support"]),
        tests("LocalServices", ["Support"]),
        .testTarget(
            name: "ProgramTests",
            dependencies: ["posthorn", "Hosting", "LocalServices", "Settings", "Support", "Telemetry"],
            swiftSettings: strict
        ),
        tests("Hosting", ["Lanes", "LocalServices", "Support", "Telemetry"]),
        tests("Schema", ["Postgres", "LocalServices", "Support"]),
        tests(
            "Registrar",
            [
                "JSON", "KeyChains", "Postgres", "Push", "Schema", "Sealing", "LocalServices", "Support",
                "posthorn",
            ]
        ),
        tests("Intake", ["JSON", "Kafka", "Push", "LocalServices", "Support", "posthorn"]),
        tests(
            "EncryptWorker",
            [
                "Device", "Kafka", "Postgres", "Push", "Registrar", "Schema", "Sealing", "LocalServices",
                "Support", "Telemetry",
            ]
        ),
        tests(
            "DispatchWorker",
            [
                "Device", "HTTPClient", "HTTPServer", "JSON", "Kafka", "Postgres", "Push", "Registrar",
                "Schema", "Sealing", "Simulation", "LocalServices", "Support", "Telemetry",
            ]
        ),
        tests(
            "DeadLetters",
            [
                "DispatchWorker", "HTTPServer", "JSON", "Kafka", "Lanes", "Postgres", "Push", "Schema",
                "Sealing", "Simulation", "LocalServices", "Support", "Telemetry", "posthorn",
            ]
        ),
        tests("Device", ["JSON", "KeyChains", "Push", "Sealing"], resources: [.embedInCode("Resources")]),
        tests(
            "Demonstration",
            ["JSON", "Kafka", "LocalServices", "Push", "Support", "posthorn"]
        ),
        tests("Simulation", ["HTTPClient", "HTTPServer", "JSON", "LocalServices", "Push", "Support"]),
        .testTarget(
            name: "ProofTests",
            dependencies: [
                "Device", "HTTPServer", "JSON", "Kafka", "Lanes", "LocalServices", "Postgres", "Push",
                "Sealing",
                "Settings", "Simulation", "Support", "posthorn",
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

// A part of the tests builds sooner: ROOMS=Push,Kafka leaves the tests of the other rooms out.
if let wanted = Context.environment["ROOMS"] {
    let names = Set(wanted.split(separator: ",").map { "\($0)Tests" })
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
