//! Where a shape is put: scale, rotation, translation, in this order.

use serde_json::{Value, json};

pub(super) type Matrix = [[f64; 3]; 3];

pub(super) const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// x ↦ R (S x) + t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    pub scale: [f64; 3],
    pub rotation: Matrix,
    pub translation: [f64; 3],
}

impl Default for Placement {
    fn default() -> Self {
        Self { scale: [1.0; 3], rotation: IDENTITY, translation: [0.0; 3] }
    }
}

impl Placement {
    /// Where a point of the shape is.
    pub fn place(&self, x: [f64; 3]) -> [f64; 3] {
        let scaled = [0, 1, 2].map(|k| self.scale[k] * x[k]);
        add(apply(&self.rotation, scaled), self.translation)
    }

    /// Sets `scale`, `rotate` and `translate` of a `mesh`, as far as they do something.
    pub fn write(&self, mesh: &mut Value) {
        let [x, y, z] = self.scale;
        if self.scale != [1.0; 3] {
            mesh["scale"] = if x == y && y == z { json!(x) } else { json!([x, y, z]) };
        }
        if let Some((axis, degrees)) = axis_angle(&self.rotation) {
            mesh["rotate"] = json!({ "axis": axis, "degrees": degrees });
        }
        if self.translation != [0.0; 3] {
            mesh["translate"] = json!(self.translation);
        }
    }
}

pub(super) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn apply(m: &Matrix, x: [f64; 3]) -> [f64; 3] {
    m.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
}

pub(super) fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// The rotation about an axis by an angle, rad (Rodrigues).
pub(super) fn rotation(axis: [f64; 3], angle: f64) -> Matrix {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length == 0.0 {
        return IDENTITY;
    }
    let [x, y, z] = axis.map(|a| a / length);
    let (s, c) = angle.sin_cos();
    let v = 1.0 - c;
    [
        [x * x * v + c, x * y * v - z * s, x * z * v + y * s],
        [y * x * v + z * s, y * y * v + c, y * z * v - x * s],
        [z * x * v - y * s, z * y * v + x * s, z * z * v + c],
    ]
}

/// The rotation of a quaternion w, x, y, z of any length.
pub(super) fn of_quaternion([w, x, y, z]: [f64; 4]) -> Matrix {
    let sine = (x * x + y * y + z * z).sqrt();
    rotation([x, y, z], 2.0 * sine.atan2(w))
}

/// Axis and degrees of a rotation; `None` where nothing turns.
pub(super) fn axis_angle(m: &Matrix) -> Option<([f64; 3], f64)> {
    let twice = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    let sine = 0.5 * twice.iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine = 0.5 * (m[0][0] + m[1][1] + m[2][2] - 1.0);
    let angle = sine.atan2(cosine);
    if angle < 1e-12 {
        return None;
    }
    let axis = if sine > 1e-6 {
        twice.map(|x| x / (2.0 * sine))
    } else {
        // Half a turn: (m + 1)/2 is the axis times itself; its longest column is the axis.
        let k = (0..3).max_by(|a, b| m[*a][*a].total_cmp(&m[*b][*b])).unwrap_or(0);
        let column = [0, 1, 2].map(|i| 0.5 * (m[i][k] + f64::from(u8::from(i == k))));
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        column.map(|x| x / length)
    };
    // Rounding would show in the scene.
    let tidy = |x: f64| if (x - x.round()).abs() < 1e-12 { x.round() + 0.0 } else { x };
    let degrees = angle.to_degrees();
    let rounded = (degrees * 1e6).round() / 1e6;
    Some((axis.map(tidy), if (degrees - rounded).abs() < 1e-9 { rounded } else { degrees }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_their_axis_and_angle() {
        for (axis, degrees) in [([0.0, 0.0, 1.0], 60.0), ([1.0, 2.0, -2.0], 170.0), ([0.0, 1.0, 0.0], 180.0)]
        {
            let m = rotation(axis, f64::to_radians(degrees));
            let (found, angle) = axis_angle(&m).unwrap();
            let again = rotation(found, angle.to_radians());
            for i in 0..3 {
                for j in 0..3 {
                    assert!((m[i][j] - again[i][j]).abs() < 1e-12, "{axis:?} {degrees}");
                }
            }
        }
        assert_eq!(axis_angle(&IDENTITY), None);
        let half = 0.5f64.sqrt();
        let (axis, degrees) = axis_angle(&of_quaternion([half, half, 0.0, 0.0])).unwrap();
        assert_eq!((axis, degrees), ([1.0, 0.0, 0.0], 90.0));
    }
}
