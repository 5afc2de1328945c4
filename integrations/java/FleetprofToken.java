// SPDX-License-Identifier: Apache-2.0
package fleetprof;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Draws, and writes the word of a sampled page: a token, or 1.TIME.NONCE without a key. */
final class FleetprofToken {
    private static final SecureRandom RANDOM = new SecureRandom();
    private final double rate;
    private final String site;
    private final byte[] key;

    /** Throws an exception if an option cannot be used. keyFile: null without a key. */
    FleetprofToken(double rate, String site, String keyFile) throws IOException {
        if (rate != 0 && !(rate >= 0.000001 && rate <= 1)) throw wrong("rate " + rate + " is not 0, and not from 0.000001 to 1");
        this.rate = rate;
        this.site = site;
        key = keyFile == null ? null : readKey(keyFile);
        boolean isNamed = site != null && site.matches("[\\w.-]{1,64}");
        if (key != null && !isNamed) throw wrong("site \"" + site + "\" is not 1 to 64 of A-Z a-z 0-9 . _ -");
    }

    private static IllegalArgumentException wrong(String what) { return new IllegalArgumentException("fleetprof: " + what); }

    private static byte[] readKey(String file) throws IOException {
        String line = Files.readAllLines(Path.of(file)).stream().map(String::trim)
            .filter(one -> !one.isEmpty() && !one.startsWith("#")).findFirst().orElse("");
        if (!line.matches("(?:[0-9A-Fa-f]{2}){32,128}")) throw wrong(file + ": the first key is not 32 to 128 bytes as hexadecimal digits");
        return HexFormat.of().parseHex(line);
    }

    boolean draw() { return RANDOM.nextDouble() < rate; }

    String sign() {
        byte[] nonce = new byte[12];
        RANDOM.nextBytes(nonce);
        String made = Instant.now().getEpochSecond() + "." + base64url(nonce);
        if (key == null) return "1." + made;
        String keyId = HexFormat.of().formatHex(hmac("fleetprof key id"), 0, 4);
        String signed = "v1." + keyId + "." + site + "." + Math.round(rate * 1_000_000) + "." + made;
        return signed + "." + base64url(hmac(signed));
    }

    private static String base64url(byte[] bytes) { return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes); }

    private byte[] hmac(String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
        } catch (GeneralSecurityException exception) {
            throw new IllegalStateException(exception);
        }
    }
}
