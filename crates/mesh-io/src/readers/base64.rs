//! Base64 as VTK writes it: several encoded pieces may follow one another, each with its padding.

use base64::Engine;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// VTK pads each piece; the unused bits of a last letter may be anything.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Letters that are decoded at a time: a multiple of four.
const BLOCK: usize = 4096;

/// The first `most` bytes that `text` encodes, up to the first byte that is not base64.
pub(crate) fn decode(text: &[u8], most: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(most.min(text.len() / 4 * 3 + 3));
    let mut block = Vec::with_capacity(BLOCK);
    for &b in text.iter().filter(|b| !b.is_ascii_whitespace()) {
        if !(b.is_ascii_alphanumeric() || b"+/=".contains(&b)) {
            break;
        }
        block.push(b);
        // Padding ends a piece.
        let whole = block.len() == BLOCK || (b == b'=' && block.len().is_multiple_of(4));
        if whole {
            if ENGINE.decode_vec(&block, &mut out).is_err() {
                block.clear();
                break;
            }
            block.clear();
            if out.len() >= most {
                break;
            }
        }
    }
    block.truncate(block.len() / 4 * 4);
    // Bytes that cannot be decoded are missing; the reader of the array reports it.
    let _ = ENGINE.decode_vec(&block, &mut out);
    out.truncate(most);
    out
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn pieces_follow_one_another() {
        let all = usize::MAX;
        for (code, text) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob")] {
            assert_eq!(decode(code.as_bytes(), all), text.as_bytes());
        }
        assert_eq!(decode(b"Zm8=Zm9v\n Zg==", all), b"fofoof");
        assert_eq!(decode(b"Zm9vYg==", 2), b"fo");
        assert_eq!(decode(b"Zm9v<tag", all), b"foo");
        assert_eq!(decode(b"Zm9vY", all), b"foo");
        let long = "QUJD".repeat(5000);
        assert_eq!(decode(long.as_bytes(), all), "ABC".repeat(5000).as_bytes());
    }
}
