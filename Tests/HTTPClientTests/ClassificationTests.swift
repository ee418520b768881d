import Testing

@testable import HTTPClient

struct ClassificationTests {
    @Test(arguments: [
        (6, 0, "", Failure.resolve), (7, 0, "", .connect), (28, 0, "", .timeout), (18, 0, "", .aborted),
        (52, 0, "Empty reply", .aborted), (56, 0, "Connection reset by peer", .aborted),
        (55, 0, "", .aborted),
        (16, 0, "", .malformed(code: 16)), (92, 0, "", .malformed(code: 92)), (8, 0, "", .malformed(code: 8)),
        (60, 10, "", .tlsHandshake(.expired)), (60, 9, "", .tlsHandshake(.expired)),
        (60, 18, "", .tlsHandshake(.unknownAuthority)), (60, 19, "", .tlsHandshake(.unknownAuthority)),
        (60, 20, "", .tlsHandshake(.unknownAuthority)), (60, 62, "", .tlsHandshake(.hostname)),
        (60, 1, "", .tlsHandshake(.hostname)),
        (60, 0, "no alternative certificate subject name matches", .tlsHandshake(.hostname)),
        (
            35, 0, "error:0A000412:SSL routines::sslv3 alert bad certificate",
            .tlsHandshake(.clientCertificateRefused)
        ),
        (
            35, 0, "error:0A000418:SSL routines::tlsv1 alert unknown ca",
            .tlsHandshake(.clientCertificateRefused)
        ),
        (
            56, 0,
            "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
            .tlsHandshake(.clientCertificateRefused)
        ),
        (35, 0, "error:0A000410:SSL routines::sslv3 alert handshake failure", .tlsHandshake(.other)),
        (98, 0, "", .tlsHandshake(.clientCertificateRefused)), (58, 0, "", .unusableIdentity),
        (77, 0, "", .unusableIdentity), (27, 0, "out of memory", .other(code: 27)),
        (9999, 0, "", .other(code: 9999)),
    ])
    func `a failure has the class of who has to act`(
        code: Int,
        verification: Int,
        text: String,
        expected: Failure
    ) {
        #expect(TransferOutcome.classify(code, verification: verification, text: text) == expected)
    }

    @Test(arguments: [
        (Duration.milliseconds(1), CInt(1)), (.microseconds(1), 1), (.zero, 0), (.seconds(-3), 0),
        (.milliseconds(1500), 1500), (.seconds(Int64.max / 2), .max), (.seconds(1 << 40), .max),
    ])
    func `a duration becomes whole milliseconds that C can hold`(duration: Duration, expected: CInt) {
        #expect(duration.clampedMilliseconds == expected)
    }
}
