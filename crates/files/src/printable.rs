//! Text for a terminal that may come from a file which is not to be trusted.

/// Words that are longer, in characters, are cut.
const LONGEST_WORD: usize = 300;
/// What is kept of them at both ends.
const ENDS: usize = 120;
/// Numbers with more digits are written with an exponent.
const MOST_DIGITS: usize = 24;

/// Text without control characters but line ends, without marks that change the direction of text, without words that flood the screen
/// and without numbers of hundreds of digits.
///
/// ```
/// use lilyan_files::printable::printable;
/// assert_eq!(printable("a\u{1b}[31mred"), "a\\u{1b}[31mred");
/// assert_eq!(printable(&format!("a radius of {} m", 1e300)), "a radius of 1e300 m");
/// ```
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        for c in short(word).chars().chain(piece[word.len()..].chars()) {
            match c {
                '\n' => out.push(c),
                c if c.is_control() || turns_text(c) => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
    }
    out
}

/// Marks that change the direction in which text is shown.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A word with its long numbers in short, cut in the middle if it is still long.
fn short(word: &str) -> String {
    if word.len() <= MOST_DIGITS {
        return word.to_owned();
    }
    let mut out = String::new();
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let length = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        let (digits, after) = from.split_at(length);
        out.push_str(before);
        match digits.parse::<f64>() {
            Ok(x) if digits.len() > MOST_DIGITS => out.push_str(&format!("{x:e}")),
            _ => out.push_str(digits),
        }
        rest = after;
    }
    out.push_str(rest);
    let count = out.chars().count();
    if count <= LONGEST_WORD {
        return out;
    }
    let head: String = out.chars().take(ENDS).collect();
    let tail: String = out.chars().skip(count - ENDS).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn ordinary_text_stays() {
        for text in
            ["", "a b  c\nd ", "out/run-12/frames/000001.vtu: 0.30000000000000004 m", "größer als ½ · 10⁻³"]
        {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn floods_are_cut() {
        let path = format!("{}/end.toml: wrong", "x".repeat(10_000));
        let short = printable(&path);
        assert!(short.chars().count() < 300 && short.ends_with("/end.toml: wrong"), "{short}");
        assert_eq!(printable(&format!("{}", 1e-300)), "1e-300");
        let title = "a title\r\u{202e}\u{9b}2Jb";
        assert_eq!(printable(title), "a title\\r\\u{202e}\\u{9b}2Jb");
        // Escape sequences must not come back by cutting.
        assert!(!printable(&"\u{1b}".repeat(1000)).contains('\u{1b}'));
    }
}
