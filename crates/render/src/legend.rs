//! What is written on a picture: the time, and what the colours mean.

use crate::font::Pen;
use crate::image::Image;
use lilyan_exchange::ColourScale;
use lilyan_report::colour;

const INK: [u8; 3] = [44, 52, 62];

/// Writes the time at the lower left.
pub(crate) fn time(image: &mut Image, text: &str) {
    let pen = pen(image);
    let at = 1.6 * pen.height;
    let y = image.height as f32 - at;
    pen.write(image, at, y, text);
}

/// Draws a bar of colours with values at the right.
pub(crate) fn colours(image: &mut Image, scale: &ColourScale) {
    let pen = pen(image);
    let (factor, unit) = prefixed(scale);
    let title = match unit.is_empty() {
        true => scale.field.replace('_', " "),
        false => format!("{} ({unit})", scale.field.replace('_', " ")),
    };
    let (low, high) = (scale.low / factor, scale.high / factor);
    let ticks = ticks(low, high);
    let digits = ticks.step_digits;
    let widest = ticks.values.iter().map(|x| pen.width(&format!("{x:.digits$}"))).fold(0.0, f32::max);
    let margin = 1.6 * pen.height;
    let bar = 1.3 * pen.height;
    let right = image.width as f32 - margin - widest - 0.8 * pen.height;
    let top = margin + 2.2 * pen.height;
    let length = (0.36 * image.height as f32).max(4.0 * pen.height);
    pen.write(image, image.width as f32 - margin - pen.width(&title), margin + pen.height, &title);
    for y in 0..length as i64 {
        let share = 1.0 - (y as f32 + 0.5) / length;
        let rgb = colour(f64::from(share)).map(|x| x.round() as u8);
        for x in (right - bar) as i64..right as i64 {
            image.blend(x, top as i64 + y, rgb, 1.0);
        }
    }
    for value in ticks.values {
        let y = top + length * (1.0 - ((value - low) / (high - low)) as f32);
        pen.stroke(image, &[[right, y], [right + 0.35 * pen.height, y]], 0.7);
        pen.write(image, right + 0.8 * pen.height, y + 0.5 * pen.height, &format!("{value:.digits$}"));
    }
}

fn pen(image: &Image) -> Pen {
    Pen { height: (image.height as f32 / 48.0).max(7.0), colour: INK }
}

/// A power of a thousand that makes the numbers short, and the unit with its prefix.
fn prefixed(scale: &ColourScale) -> (f64, String) {
    let largest = scale.low.abs().max(scale.high.abs());
    // Units with a power or a quotient have a power of ten instead.
    let simple = matches!(scale.unit.as_str(), "Pa" | "N" | "m");
    let exponent = match largest > 0.0 {
        true => (largest.log10() / 3.0).floor() as i32,
        false => 0,
    };
    let prefixes = [(-3, "n"), (-2, "µ"), (-1, "m"), (1, "k"), (2, "M"), (3, "G")];
    let prefix = prefixes.iter().find(|(power, _)| *power == exponent);
    match (simple, prefix) {
        (true, Some((power, prefix))) => (1000f64.powi(*power), format!("{prefix}{}", scale.unit)),
        _ if !simple && !(-1..=1).contains(&exponent) => {
            (1000f64.powi(exponent), format!("1e{} {}", 3 * exponent, scale.unit).trim_end().into())
        }
        _ => (1.0, scale.unit.clone()),
    }
}

/// Round values within a range, and the digits behind the point that they need.
struct Ticks {
    values: Vec<f64>,
    step_digits: usize,
}

fn ticks(low: f64, high: f64) -> Ticks {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    // Adding zero turns −0 into 0.
    Ticks { values: (first..=last).map(|k| k as f64 * step + 0.0).collect(), step_digits: digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(unit: &str, low: f64, high: f64) -> ColourScale {
        ColourScale { field: "x".into(), unit: unit.into(), low, high }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(prefixed(&scale("Pa", 0.0, 23_456.0)), (1e3, "kPa".into()));
        assert_eq!(prefixed(&scale("m/s", 0.0, 3.2)), (1.0, "m/s".into()));
        assert_eq!(prefixed(&scale("J/m³", 0.0, 4.5e7)), (1e6, "1e6 J/m³".into()));
        assert_eq!(prefixed(&scale("", 0.9, 1.1)), (1.0, String::new()));
    }

    #[test]
    fn ticks_are_round_and_within() {
        let found = ticks(0.13, 23.4);
        assert_eq!(found.values, [5.0, 10.0, 15.0, 20.0]);
        assert_eq!(found.step_digits, 0);
        let found = ticks(-0.02, 0.05);
        assert_eq!(found.step_digits, 2);
        assert_eq!(found.values, [-0.02, 0.0, 0.02, 0.04]);
    }
}
