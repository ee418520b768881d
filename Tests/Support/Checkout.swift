/// Places in the checkout that the tests were built from.
package enum Checkout {
    /// The absolute path of `relative` below the project's top folder.
    package static func path(_ relative: String, file: String = #filePath) -> String {
        // This file is Tests/Support/Checkout.swift: the top is three components up.
        let components = file.split(separator: "/").dropLast(3)
        return "/" + (components + [relative[...]]).joined(separator: "/")
    }
}
