//! Frames: where an element is, and how it is turned.

use super::super::placement::{IDENTITY, Matrix, Placement, add, apply, multiply, of_quaternion, rotation};
use super::super::xml::Element;

/// x ↦ R x + t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub rotation: Matrix,
    pub translation: [f64; 3],
}

impl Default for Frame {
    fn default() -> Self {
        Self { rotation: IDENTITY, translation: [0.0; 3] }
    }
}

impl Frame {
    /// A frame inside this one.
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            rotation: multiply(&self.rotation, &inner.rotation),
            translation: self.place(inner.translation),
        }
    }

    /// Where a point of the frame is.
    pub fn place(&self, x: [f64; 3]) -> [f64; 3] {
        add(apply(&self.rotation, x), self.translation)
    }

    /// The direction of its z axis.
    pub fn z(&self) -> [f64; 3] {
        apply(&self.rotation, [0.0, 0.0, 1.0])
    }

    /// The place of a shape whose point `origin` is at the origin of the frame.
    pub fn placement(&self, origin: [f64; 3]) -> Placement {
        let moved = self.place(origin.map(|x| -x));
        // Rounding would show in the scene.
        let tidy = moved.map(|x| if x.abs() < 1e-15 { 0.0 } else { x });
        Placement { scale: [1.0; 3], rotation: self.rotation, translation: tidy }
    }
}

/// How a model writes orientations.
pub(super) struct Orientations {
    radians: bool,
    sequence: String,
}

impl Orientations {
    pub fn new(angle: Option<&str>, sequence: Option<&str>) -> Self {
        Self { radians: angle == Some("radian"), sequence: sequence.unwrap_or("xyz").into() }
    }

    fn angle(&self, x: f64) -> f64 {
        if self.radians { x } else { x.to_radians() }
    }

    /// The frame that `pos` and an orientation give.
    pub fn frame(&self, element: &Element) -> Frame {
        Frame { rotation: self.rotation(element), translation: element.vector("pos").unwrap_or_default() }
    }

    fn rotation(&self, element: &Element) -> Matrix {
        let of = |key: &str| element.numbers(key).unwrap_or_default();
        if let [w, x, y, z] = of("quat")[..] {
            return of_quaternion([w, x, y, z]);
        }
        if let [x, y, z, angle] = of("axisangle")[..] {
            return rotation([x, y, z], self.angle(angle));
        }
        if let [a, b, c] = of("euler")[..] {
            let mut all = IDENTITY;
            for (axis, angle) in self.sequence.chars().zip([a, b, c]) {
                let k = "xyz".find(axis.to_ascii_lowercase()).unwrap_or(0);
                let unit: [f64; 3] = std::array::from_fn(|i| f64::from(u8::from(i == k)));
                let turn = rotation(unit, self.angle(angle));
                // Small letters are axes that turn along, capitals stand still.
                all = if axis.is_lowercase() { multiply(&all, &turn) } else { multiply(&turn, &all) };
            }
            return all;
        }
        if let [x1, x2, x3, y1, y2, y3] = of("xyaxes")[..] {
            return of_axes([x1, x2, x3], [y1, y2, y3]);
        }
        if let [x, y, z] = of("zaxis")[..] {
            // The smallest rotation that turns z there.
            let length = (x * x + y * y + z * z).sqrt();
            let sine = (x * x + y * y).sqrt();
            let axis = if sine > 0.0 { [-y, x, 0.0] } else { [1.0, 0.0, 0.0] };
            return if length > 0.0 { rotation(axis, sine.atan2(z)) } else { IDENTITY };
        }
        IDENTITY
    }
}

/// The rotation whose x axis has this direction and whose y axis comes nearest to the other.
fn of_axes(x: [f64; 3], y: [f64; 3]) -> Matrix {
    let unit = |a: [f64; 3]| {
        let length = a.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 { a.map(|x| x / length) } else { a }
    };
    let x = unit(x);
    let along = (0..3).map(|k| x[k] * y[k]).sum::<f64>();
    let y = unit([0, 1, 2].map(|k| y[k] - along * x[k]));
    let z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    [0, 1, 2].map(|k| [x[k], y[k], z[k]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(attributes: &str) -> Frame {
        let element = Element::parse(&format!("<body {attributes}/>")).unwrap();
        Orientations::new(None, None).frame(&element)
    }

    #[test]
    fn orientations_of_all_kinds() {
        let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-12);
        assert!(near(frame("zaxis='0 1 0'").z(), [0.0, 1.0, 0.0]));
        assert!(near(frame("zaxis='0 0 -2'").z(), [0.0, 0.0, -1.0]));
        assert!(near(frame("euler='90 0 0'").z(), [0.0, -1.0, 0.0]));
        assert!(near(frame("quat='1 1 0 0'").z(), [0.0, -1.0, 0.0]));
        assert!(near(frame("axisangle='1 0 0 90'").z(), [0.0, -1.0, 0.0]));
        assert!(near(frame("xyaxes='1 0 0 0 0 1'").z(), [0.0, -1.0, 0.0]));
        // First about x, then about the new y.
        let both = frame("euler='90 90 0' pos='1 2 3'");
        assert!(near(both.place([0.0, 0.0, 1.0]), [2.0, 2.0, 3.0]));
    }
}
