//! Text encodings of the page: base64, HTML escapes, and the hash that lets its script run.

/// Standard base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().enumerate().fold(0u32, |w, (k, &b)| w | u32::from(b) << (16 - 8 * k));
        for k in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * k)) as usize & 63];
            out.push(if k > chunk.len() { '=' } else { letter as char });
        }
    }
    out
}

/// Text made safe for HTML content and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A JSON string that is also safe inside a `<script>` element.
pub(super) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c").replace('>', "\\u003e")
}

/// The source expression by which a content security policy admits exactly this script.
pub(super) fn script_hash(script: &str) -> String {
    format!("sha256-{}", base64(&sha256(script.as_bytes())))
}

/// SHA-256 (FIPS 180-4).
fn sha256(message: &[u8]) -> [u8; 32] {
    // The constants are the fractional parts of the roots of the first primes.
    let primes: Vec<u64> = (2..312u64).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let mut k = [0u32; 64];
    for (k, &p) in k.iter_mut().zip(&primes) {
        *k = fractional_root(p, 3);
    }
    let mut h = [0u32; 8];
    for (h, &p) in h.iter_mut().zip(&primes) {
        *h = fractional_root(p, 2);
    }

    let mut data = message.to_vec();
    data.push(0x80);
    data.resize(data.len().next_multiple_of(64), 0);
    if message.len() % 64 >= 56 {
        data.resize(data.len() + 64, 0);
    }
    let end = data.len();
    data[end - 8..].copy_from_slice(&(8 * message.len() as u64).to_be_bytes());

    for block in data.chunks_exact(64) {
        let mut w = [0u32; 64];
        for (w, b) in w.iter_mut().zip(block.chunks_exact(4)) {
            *w = u32::from_be_bytes([b[0], b[1], b[2], b[3]]);
        }
        for t in 16..64 {
            let (x, y) = (w[t - 15], w[t - 2]);
            let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        }
        let mut s = h;
        for t in 0..64 {
            let (a, e) = (s[0], s[4]);
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & s[5]) ^ (!e & s[6]);
            let t1 = s[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[t]).wrapping_add(w[t]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
            s.rotate_right(1);
            s[4] = s[4].wrapping_add(t1);
            s[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        for (h, s) in h.iter_mut().zip(s) {
            *h = h.wrapping_add(s);
        }
    }
    let mut out = [0; 32];
    for (out, h) in out.chunks_exact_mut(4).zip(h) {
        out.copy_from_slice(&h.to_be_bytes());
    }
    out
}

/// First 32 bits of the fractional part of the root of `p`, by exact integer bisection.
fn fractional_root(p: u64, degree: u32) -> u32 {
    let target = u128::from(p) << (32 * degree);
    let (mut low, mut high) = (0u128, 1u128 << 40);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle.pow(degree) <= target { low = middle } else { high = middle }
    }
    low as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes_and_base64() {
        let hex = |m: &[u8]| sha256(m).iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(text.as_bytes()), code);
        }
        assert_eq!(json_string("</script>\"\n"), "\"\\u003c/script\\u003e\\\"\\n\"");
    }
}
