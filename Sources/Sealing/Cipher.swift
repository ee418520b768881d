import Copenssl

/// AES-256-GCM with a 12-byte IV and a 16-byte tag.
///
/// The cipher is fetched and its context made once; a key stays set until the next ``setKey(_:)``, so that many messages under one
/// key cost its schedule once. One lane's own; wiped with its owner.
///
/// ```
///   sealed = IV (12) | ciphertext (as long as the plaintext) | tag (16)
/// ```
///
/// The corresponding C functions are `EVP_CipherInit_ex2`, `EVP_CipherUpdate`, `EVP_CipherFinal_ex`.
@safe
package struct Cipher: ~Copyable {
    package static let keyLength = 32
    package static let ivLength = 12
    package static let tagLength = 16
    /// What a sealed message is longer than its plaintext.
    package static let overhead = ivLength + tagLength
    /// More than any message; keeps every length within C's `int`.
    package static let maximumLength = 1 << 30

    private let cipher: OpaquePointer
    private let context: OpaquePointer
    private var hasKey = false

    package init() throws(SealingError) {
        let cipher = unsafe try Library.made(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "fetch AES-256-GCM")
        guard let context = unsafe EVP_CIPHER_CTX_new(),
            unsafe EVP_CipherInit_ex2(context, cipher, nil, nil, 1, nil) == 1
        else {
            unsafe EVP_CIPHER_free(cipher)
            throw Library.failure("make a cipher context")
        }
        unsafe self.cipher = cipher
        unsafe self.context = context
    }

    deinit {
        // Frees and cleanses the key schedule.
        unsafe EVP_CIPHER_CTX_free(context)
        unsafe EVP_CIPHER_free(cipher)
    }

    /// Sets the key for the messages to come.
    ///
    /// - Precondition: `key` has 32 bytes.
    package mutating func setKey(_ key: Span<UInt8>) throws(SealingError) {
        precondition(key.count == Self.keyLength, "an AES-256 key has 32 bytes")
        hasKey = true
        let answer = unsafe key.withUnsafeBufferPointer { key in
            unsafe EVP_CipherInit_ex2(context, nil, key.baseAddress, nil, 1, nil)
        }
        try Library.check(answer, "set a key")
    }

    // MARK: - Sealing

    /// Seals `plaintext` under the key set, with a fresh random IV, and appends IV, ciphertext and tag to `output`.
    ///
    /// The associated data is authenticated but not part of the output; default none.
    ///
    /// - Throws: ``SealingError/library(operation:reason:)``; `output` is then as it was.
    package mutating func seal(
        _ plaintext: Span<UInt8>,
        authenticating data: Span<UInt8> = Span(),
        random: inout RandomSource,
        into output: inout [UInt8]
    ) throws(SealingError) {
        precondition(hasKey, "a key is set before sealing")
        let start = output.count
        try random.append(Self.ivLength, to: &output)
        try unsafe seal(plaintext, data, nil, ivAt: start, &output)
    }

    /// The same under a key for this message, which stays set: cheaper than ``setKey(_:)`` before.
    ///
    /// - Precondition: `key` has 32 bytes.
    package mutating func seal(
        _ plaintext: Span<UInt8>,
        under key: Span<UInt8>,
        authenticating data: Span<UInt8> = Span(),
        random: inout RandomSource,
        into output: inout [UInt8]
    ) throws(SealingError) {
        precondition(key.count == Self.keyLength, "an AES-256 key has 32 bytes")
        hasKey = true
        let start = output.count
        try random.append(Self.ivLength, to: &output)
        try unsafe key.withUnsafeBufferPointer { key throws(SealingError) in
            try unsafe seal(plaintext, data, key.baseAddress, ivAt: start, &output)
        }
    }

    /// The same with an IV of the caller's, for test vectors: an IV used twice under one key gives both messages away.
    ///
    /// - Precondition: `iv` has 12 bytes.
    package mutating func seal(
        _ plaintext: Span<UInt8>,
        authenticating data: Span<UInt8> = Span(),
        fixedIV iv: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(SealingError) {
        precondition(hasKey, "a key is set before sealing")
        precondition(iv.count == Self.ivLength, "the IV has 12 bytes")
        let start = output.count
        for index in 0..<iv.count { output.append(iv[index]) }
        try unsafe seal(plaintext, data, nil, ivAt: start, &output)
    }

    /// Completes the message whose IV ends `output`; without a key of its own under the one that is set.
    private mutating func seal(
        _ plaintext: Span<UInt8>,
        _ data: Span<UInt8>,
        _ key: UnsafePointer<UInt8>?,
        ivAt start: Int,
        _ output: inout [UInt8]
    ) throws(SealingError) {
        guard plaintext.count <= Self.maximumLength, data.count <= Self.maximumLength else {
            output.removeLast(output.count - start)
            throw .wrongLength(plaintext.count)
        }
        output.append(contentsOf: repeatElement(0, count: plaintext.count + Self.tagLength))
        let sealed = unsafe output.withUnsafeMutableBufferPointer { output in
            guard let iv = unsafe output.baseAddress.map({ unsafe $0 + start }) else { return false }
            let body = unsafe iv + Self.ivLength
            var length: Int32 = 0
            return unsafe EVP_CipherInit_ex2(context, nil, key, iv, 1, nil) == 1
                && authenticate(data)
                && update(plaintext, body)
                && EVP_CipherFinal_ex(context, body + plaintext.count, &length) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context,
                    EVP_CTRL_AEAD_GET_TAG,
                    Int32(Self.tagLength),
                    body + plaintext.count
                ) == 1
        }
        guard sealed else {
            output.removeLast(output.count - start)
            throw Library.failure("seal")
        }
    }

    // MARK: - Opening

    /// Opens `sealed` (IV, ciphertext, tag) under the key set and appends the plaintext to `output`.
    ///
    /// The associated data must be what it was sealed with.
    ///
    /// - Throws: ``SealingError/notAuthentic`` when it is not what was sealed under this key;
    ///   ``SealingError/wrongLength(_:)`` when it cannot be. `output` is then as it was, and nothing unproven stays in memory.
    package mutating func open(
        _ sealed: Span<UInt8>,
        authenticating data: Span<UInt8> = Span(),
        into output: inout [UInt8]
    ) throws(SealingError) {
        guard sealed.count >= Self.overhead else { throw .wrongLength(sealed.count) }
        let start = output.count
        let length = sealed.count - Self.overhead
        output.append(contentsOf: repeatElement(0, count: length))
        do throws(SealingError) {
            try unsafe output.withUnsafeMutableBufferPointer { output throws(SealingError) in
                try unsafe open(sealed, data, output.baseAddress.map { unsafe $0 + start })
            }
        } catch {
            SecretBytes.wipe(&output, from: start)
            output.removeLast(length)
            throw error
        }
    }

    /// Opens `sealed` into memory of the caller's.
    ///
    /// The memory must be exactly as long as the plaintext; it holds zeros after a failure.
    ///
    /// - Throws: as ``open(_:authenticating:into:)``.
    package mutating func open(
        _ sealed: Span<UInt8>,
        authenticating data: Span<UInt8> = Span(),
        into output: inout MutableSpan<UInt8>
    ) throws(SealingError) {
        guard sealed.count - Self.overhead == output.count else { throw .wrongLength(sealed.count) }
        try unsafe output.withUnsafeMutableBufferPointer { output throws(SealingError) in
            do throws(SealingError) {
                try unsafe open(sealed, data, output.baseAddress)
            } catch {
                unsafe SecretBytes.wipe(output)
                throw error
            }
        }
    }

    private mutating func open(
        _ sealed: Span<UInt8>,
        _ data: Span<UInt8>,
        _ output: UnsafeMutablePointer<UInt8>?
    ) throws(SealingError) {
        precondition(hasKey, "a key is set before opening")
        let length = sealed.count - Self.overhead
        guard length <= Self.maximumLength, data.count <= Self.maximumLength else {
            throw .wrongLength(sealed.count)
        }
        // An empty plaintext still needs somewhere for the last step to write nothing.
        var nowhere: UInt8 = 0
        let (ready, isAuthentic) = unsafe withUnsafeMutablePointer(to: &nowhere) { nowhere in
            unsafe sealed.withUnsafeBufferPointer { sealed in
                guard let iv = sealed.baseAddress else { return (false, false) }
                let body = unsafe iv + Self.ivLength
                let tag = unsafe UnsafeMutablePointer(mutating: body + length)
                let target = unsafe output ?? nowhere
                var written: Int32 = 0
                let ready =
                    unsafe EVP_CipherInit_ex2(context, nil, nil, iv, 0, nil) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), tag) == 1
                    && authenticate(data)
                    && (length == 0 || EVP_CipherUpdate(context, target, &written, body, Int32(length)) == 1)
                return unsafe (ready, ready && EVP_CipherFinal_ex(context, target + length, &written) == 1)
            }
        }
        guard ready else { throw Library.failure("open") }
        guard isAuthentic else {
            Library.forgetErrors()
            throw .notAuthentic
        }
    }

    // MARK: - Steps of both

    private func authenticate(_ data: Span<UInt8>) -> Bool {
        guard !data.isEmpty else { return true }
        return unsafe data.withUnsafeBufferPointer { data in
            var length: Int32 = 0
            return unsafe EVP_CipherUpdate(context, nil, &length, data.baseAddress, Int32(data.count)) == 1
        }
    }

    private func update(_ input: Span<UInt8>, _ output: UnsafeMutablePointer<UInt8>) -> Bool {
        guard !input.isEmpty else { return true }
        return unsafe input.withUnsafeBufferPointer { input in
            var length: Int32 = 0
            return unsafe EVP_CipherUpdate(context, output, &length, input.baseAddress, Int32(input.count))
                == 1
        }
    }
}
