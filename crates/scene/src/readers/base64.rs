//! Base64 as VTK writes it: several encoded pieces may follow one another, each with its padding.

/// The first `most` bytes that `text` encodes, up to the first byte that is not base64.
pub(crate) fn decode(text: &[u8], most: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(most.min(text.len() / 4 * 3 + 3));
    let mut quad = [0u8; 4];
    let mut filled = 0;
    let mut padding = 0;
    for &b in text {
        if b.is_ascii_whitespace() {
            continue;
        }
        let Some(value) = digit(b) else { break };
        padding += usize::from(b == b'=');
        if let Some(q) = quad.get_mut(filled) {
            *q = value;
        }
        filled += 1;
        if filled == 4 {
            let word = quad.iter().fold(0u32, |w, &q| w << 6 | u32::from(q));
            let [_, bytes @ ..] = word.to_be_bytes();
            out.extend(bytes.iter().take(3usize.saturating_sub(padding)));
            if out.len() >= most {
                break;
            }
            (filled, padding) = (0, 0);
        }
    }
    out.truncate(most);
    out
}

fn digit(b: u8) -> Option<u8> {
    Some(match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        b'=' => 0,
        _ => return None,
    })
}
