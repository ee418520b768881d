// The benchmarks are not built yet; see the README's "Limits known today".
