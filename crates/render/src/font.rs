//! Letters as strokes.
//!
//! A letter is a list of strokes between points of a grid: two digits are a column and a row; the base line is row 2, small
//! letters reach row 6, capitals row 8. `~` before a stroke smooths its corners, `@` closes it too.

use crate::image::Image;

/// Width of each letter in columns, and its strokes.
fn strokes(letter: char) -> (f32, &'static str) {
    match letter {
        'a' => (3.0, "@06 02 32 36,36 32"),
        'b' => (3.0, "08 02,@06 02 32 36"),
        'c' => (3.0, "~35 36 06 02 32 33"),
        'd' => (3.0, "38 32,@06 02 32 36"),
        'e' => (3.0, "04 34,~34 36 06 02 32 33"),
        'f' => (2.0, "~28 18 16,16 12,06 26"),
        'g' => (3.0, "@06 02 32 36,36 32,~32 30 00 01"),
        'h' => (3.0, "08 02,~04 06 36 34,34 32"),
        'i' => (0.0, "06 02,08 08"),
        'j' => (1.0, "16 12,~12 10 00,18 18"),
        'k' => (3.0, "08 02,36 03,14 32"),
        'l' => (0.0, "08 02"),
        'm' => (4.0, "06 02,~04 06 26 24,24 22,~24 26 46 44,44 42"),
        'n' => (3.0, "06 02,~04 06 36 34,34 32"),
        'o' => (3.0, "@06 02 32 36"),
        'p' => (3.0, "06 00,@06 02 32 36"),
        'q' => (3.0, "36 30,@06 02 32 36"),
        'r' => (2.0, "06 02,~04 06 26"),
        's' => (3.0, "~35 36 06 04 34 32 02 03"),
        't' => (2.0, "18 14,~14 12 22,06 26"),
        'u' => (3.0, "06 04,~04 02 32 34,36 32"),
        'µ' => (3.0, "06 00,~04 02 32 34,36 32"),
        'v' => (4.0, "06 22 46"),
        'w' => (4.0, "06 12 25 32 46"),
        'x' => (3.0, "06 32,02 36"),
        'y' => (4.0, "06 22,46 10"),
        'z' => (3.0, "06 36 02 32"),
        'A' => (4.0, "02 28 42,14 34"),
        'B' => (3.0, "02 08,~08 38 35 05,~05 35 32 02"),
        'C' => (3.0, "~37 38 08 02 32 33"),
        'D' => (3.0, "02 08,~08 38 32 02"),
        'E' => (3.0, "38 08 02 32,05 25"),
        'F' => (3.0, "38 08 02,05 25"),
        'G' => (3.0, "~37 38 08 02 32 34,34 24"),
        'H' => (3.0, "08 02,38 32,05 35"),
        'I' => (0.0, "08 02"),
        'J' => (3.0, "38 34,~34 32 02 04"),
        'K' => (3.0, "08 02,04 38,15 32"),
        'L' => (3.0, "08 02 32"),
        'M' => (4.0, "02 08 24 48 42"),
        'N' => (3.0, "02 08 32 38"),
        'O' => (4.0, "@08 02 42 48"),
        'P' => (3.0, "02 08,~08 38 34 04"),
        'Q' => (4.0, "@08 02 42 48,24 42"),
        'R' => (3.0, "02 08,~08 38 34 04,14 32"),
        'S' => (3.0, "~37 38 08 05 35 32 02 03"),
        'T' => (4.0, "08 48,28 22"),
        'U' => (3.0, "08 04,~04 02 32 34,34 38"),
        'V' => (4.0, "08 22 48"),
        'W' => (4.0, "08 12 26 32 48"),
        'X' => (3.0, "08 32,02 38"),
        'Y' => (4.0, "08 25 48,25 22"),
        'Z' => (3.0, "08 38 02 32"),
        '0' => (3.0, "@08 02 32 38"),
        '1' => (3.0, "06 28 22"),
        '2' => (3.0, "~06 08 38 35 02,02 32"),
        '3' => (3.0, "~07 08 38 35 15,~15 35 32 02 03"),
        '4' => (3.0, "22 28 04 34"),
        '5' => (3.0, "38 08 05,~05 36 32 02 03"),
        '6' => (3.0, "~37 38 08 02 32 36 06 03"),
        '7' => (3.0, "08 38 12"),
        '8' => (3.0, "@08 05 35 38,@05 02 32 35"),
        '9' => (3.0, "~03 02 32 38 08 04 34 37"),
        '.' => (0.0, "02 02"),
        ',' => (1.0, "12 01"),
        ':' => (0.0, "05 05,02 02"),
        '-' | '−' | '–' => (2.0, "05 25"),
        '+' => (4.0, "05 45,27 23"),
        '=' => (3.0, "06 36,04 34"),
        '/' => (2.0, "01 28"),
        '(' => (1.0, "~19 08 02 11"),
        ')' => (1.0, "~09 18 12 01"),
        '_' => (3.0, "01 31"),
        '×' => (3.0, "06 33,03 36"),
        '%' => (4.0, "02 48,@08 06 18 17,@43 42 32 34"),
        _ => (2.0, ""),
    }
}

/// Text with this height of capitals, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    pub height: f32,
    pub colour: [u8; 3],
}

impl Pen {
    /// Letters raised as powers are drawn as small ones.
    fn raised(letter: char) -> Option<char> {
        match letter {
            '²' => Some('2'),
            '³' => Some('3'),
            _ => None,
        }
    }

    /// Pixels that a letter takes, the gap after it included.
    fn advance(self, letter: char) -> f32 {
        let unit = self.height / 6.0;
        match Self::raised(letter) {
            Some(digit) => 0.6 * (strokes(digit).0 + 1.9) * unit,
            None => (strokes(letter).0 + 1.9) * unit,
        }
    }

    /// Width of a text, pixels.
    pub fn width(self, text: &str) -> f32 {
        text.chars().map(|letter| self.advance(letter)).sum()
    }

    /// Writes a text whose base line begins at (x, y).
    pub fn write(self, image: &mut Image, x: f32, y: f32, text: &str) {
        let mut at = x;
        for letter in text.chars() {
            let (shown, size, lift) = match Self::raised(letter) {
                Some(digit) => (digit, 0.6, 0.5),
                None => (letter, 1.0, 0.0),
            };
            let unit = size * self.height / 6.0;
            for stroke in strokes(shown).1.split(',').filter(|stroke| !stroke.is_empty()) {
                let points = smoothed(stroke);
                let placed: Vec<[f32; 2]> = points
                    .iter()
                    .map(|[column, row]| [at + unit * column, y - lift * self.height - unit * (row - 2.0)])
                    .collect();
                self.stroke(image, &placed, 0.068 * self.height.max(9.0));
            }
            at += self.advance(letter);
        }
    }

    /// A line of this half width through points, with round ends and smooth edges.
    pub fn stroke(self, image: &mut Image, points: &[[f32; 2]], half: f32) {
        let reach = half + 1.0;
        let bound = |k: usize, low: bool| {
            let all = points.iter().map(|p| p[k]);
            if low {
                all.fold(f32::INFINITY, f32::min) - reach
            } else {
                all.fold(f32::NEG_INFINITY, f32::max) + reach
            }
        };
        for y in bound(1, true) as i64..=bound(1, false) as i64 {
            for x in bound(0, true) as i64..=bound(0, false) as i64 {
                let p = [x as f32 + 0.5, y as f32 + 0.5];
                let near =
                    points.windows(2).map(|ends| distance(p, ends[0], ends[1])).fold(f32::INFINITY, f32::min);
                let share = (half + 0.5 - near).clamp(0.0, 1.0);
                if share > 0.0 {
                    image.blend(x, y, self.colour, share);
                }
            }
        }
    }
}

/// The points of a stroke, with corners cut three times (Chaikin) where it is smooth.
fn smoothed(stroke: &str) -> Vec<[f32; 2]> {
    let closed = stroke.starts_with('@');
    let smooth = closed || stroke.starts_with('~');
    let digit = |byte: u8| f32::from(byte) - f32::from(b'0');
    let plain = stroke.trim_start_matches(['@', '~']);
    let mut points: Vec<[f32; 2]> =
        plain.split(' ').filter_map(|p| p.as_bytes().first_chunk::<2>()).map(|p| p.map(digit)).collect();
    if !smooth {
        return points;
    }
    let cut = |a: [f32; 2], b: [f32; 2], t: f32| [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
    for _ in 0..3 {
        let mut next = Vec::new();
        let n = points.len();
        let segments = if closed { n } else { n - 1 };
        for k in 0..segments {
            let (a, b) = (points[k], points[(k + 1) % n]);
            let ends = [!closed && k == 0, !closed && k == segments - 1];
            next.push(if ends[0] { a } else { cut(a, b, 0.25) });
            next.push(if ends[1] { b } else { cut(a, b, 0.75) });
        }
        points = next;
    }
    if closed {
        points.extend(points.first().copied());
    }
    points
}

fn distance(p: [f32; 2], a: [f32; 2], b: [f32; 2]) -> f32 {
    let along = [b[0] - a[0], b[1] - a[1]];
    let from = [p[0] - a[0], p[1] - a[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let t =
        if length > 0.0 { ((from[0] * along[0] + from[1] * along[1]) / length).clamp(0.0, 1.0) } else { 0.0 };
    (from[0] - t * along[0]).hypot(from[1] - t * along[1])
}
