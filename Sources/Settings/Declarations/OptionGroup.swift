/// Options under one heading of the help; shared groups are declared once and listed by many commands.
package struct OptionGroup: Sendable {
    package let title: String
    package let definitions: [Definition]

    package init(_ title: String, _ options: any Declaration...) {
        self.title = title
        definitions = options.map(\.definition)
    }
}
