//! The axes of a scene and those of a format.

/// The rotation that turns `up` to y, as a quaternion x, y, z, w; `None` if y is up.
pub(super) fn turn_to_y(up: [f64; 3]) -> Option<[f64; 4]> {
    let [x, y, z] = up;
    if y > 1.0 - 1e-12 {
        return None;
    }
    if y < -1.0 + 1e-12 {
        return Some([1.0, 0.0, 0.0, 0.0]);
    }
    // The half-way quaternion of up → y: (up × y, 1 + up · y), normalised.
    let q = [-z, 0.0, x, 1.0 + y];
    let length = q.iter().map(|a| a * a).sum::<f64>().sqrt();
    Some(q.map(|a| a / length))
}

/// Whether z is up.
pub(super) fn is_z(up: [f64; 3]) -> bool {
    up[2] > 1.0 - 1e-12
}

/// What the user of a format should know about a direction up that is not y.
pub(super) fn note(format: &str, up: [f64; 3]) -> Option<String> {
    turn_to_y(up)?;
    let axis = ["x", "y", "z"].iter().zip(up).find(|(_, x)| x.abs() > 1.0 - 1e-12);
    let told =
        axis.map_or(format!("{up:?}"), |(name, x)| format!("{}{name}", if x < 0.0 { "−" } else { "" }));
    Some(match format {
        "glb" => format!("{told} is up in the scene and y in glTF: the node that holds the bodies is turned"),
        "usda" if is_z(up) => "z is up, as in the scene".into(),
        "usda" => {
            format!("{told} is up in the scene and y in the file: the node that holds the bodies is turned")
        }
        _ => format!("axes are those of the scene, where {told} is up"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
        let [x, y, z, w] = q;
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let u = [x, y, z];
        let t = cross(u, v).map(|a| 2.0 * a);
        let s = cross(u, t);
        [0, 1, 2].map(|k| v[k] + w * t[k] + s[k])
    }

    #[test]
    fn every_direction_is_turned_to_y() {
        assert_eq!(turn_to_y([0.0, 1.0, 0.0]), None);
        for up in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [0.6, 0.0, 0.8]] {
            let y = turned(turn_to_y(up).unwrap(), up);
            assert!((0..3).all(|k| (y[k] - [0.0, 1.0, 0.0][k]).abs() < 1e-15), "{up:?} {y:?}");
        }
        // z up: x stays, and y, which points away from the viewer, becomes −z.
        let away = turned(turn_to_y([0.0, 0.0, 1.0]).unwrap(), [0.0, 1.0, 0.0]);
        assert!((away[2] + 1.0).abs() < 1e-15);
    }
}
