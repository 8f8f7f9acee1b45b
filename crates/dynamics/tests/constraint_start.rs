//! Constraints at the start of a run: those that are redundant or violated are named, velocities are projected.

use lilyan_dynamics::State;
use lilyan_dynamics::constraints::{Distance, StartError, start};
use lilyan_dynamics::systems::Rods;

#[test]
fn what_is_redundant_is_named() {
    let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
    let check = |pairs: &[[u32; 2]], held: usize| {
        let rods = pairs
            .iter()
            .map(|&[a, b]| {
                let apart = |k: usize| f64::powi(places[a as usize][k] - places[b as usize][k], 2);
                Distance::new("rod", [a, b], (0..3).map(apart).sum::<f64>().sqrt())
            })
            .collect();
        let system = Rods::new(&[1.0, 2.0, 3.0, 4.0, 5.0], &places, held, rods, [0.0; 3]);
        start(&system, &mut State::new(&system, places.concat(), vec![0.0; 15]))
    };
    let redundant = |which: usize, on: &[usize]| -> Result<f64, StartError> {
        Err(StartError::Redundant { which: vec![(which, on.to_vec())] })
    };
    // A triangle, and one of its sides again.
    assert_eq!(check(&[[0, 1], [1, 2], [2, 0]], 0), Ok(0.0));
    assert_eq!(check(&[[0, 1], [1, 2], [2, 0], [2, 1]], 0), redundant(3, &[1]));
    // Five points all joined: ten rods, of which nine make it rigid.
    let all: Vec<[u32; 2]> = (0..5).flat_map(|j| (0..j).map(move |i| [i, j])).collect();
    match check(&all, 0) {
        Err(StartError::Redundant { which }) => {
            assert_eq!(which.len(), 1, "{which:?}");
            assert_eq!((which[0].0, which[0].1.len()), (9, 9), "{which:?}");
        }
        other => panic!("{other:?}"),
    }
    // Between two points that are held.
    assert_eq!(check(&[[1, 2], [0, 1]], 2), Err(StartError::Held { which: 1 }));
    // More rods than a single point has freedoms.
    assert!(matches!(check(&[[0, 4], [1, 4], [2, 4], [3, 4]], 4), Err(StartError::TooMany { .. })));
}

/// Among so many that they are not compared with each other one by one.
#[test]
fn what_is_redundant_among_thousands_is_named() {
    let chain = |again: bool| {
        let places: Vec<[f64; 3]> = (0..=2000).map(|i| [f64::from(i), (f64::from(i)).sin(), 0.0]).collect();
        let length =
            |i: usize| (0..3).map(|k| f64::powi(places[i + 1][k] - places[i][k], 2)).sum::<f64>().sqrt();
        let mut rods: Vec<Distance> =
            (0..2000).map(|i| Distance::new("rod", [i as u32, i as u32 + 1], length(i))).collect();
        if again {
            rods.push(Distance::new("again", [778, 777], length(777)));
        }
        let system = Rods::new(&vec![1.0; 2001], &places, 1, rods, [0.0; 3]);
        start(&system, &mut State::new(&system, places.concat(), vec![0.0; 6003]))
    };
    assert_eq!(chain(false), Ok(0.0));
    match chain(true) {
        Err(StartError::Redundant { which }) => {
            let mut all = which[0].1.clone();
            all.push(which[0].0);
            all.sort_unstable();
            assert_eq!(all, [777, 2000]);
        }
        other => panic!("{other:?}"),
    }
}

/// Velocities that would break a constraint are projected, and the caller gets to know by how much.
#[test]
fn velocities_at_the_start_are_projected() {
    let places = [[0.0; 3], [1.0, 0.0, 0.0]];
    let system = Rods::new(&[1.0; 2], &places, 1, vec![Distance::new("rod", [0, 1], 1.0)], [0.0; 3]);
    let mut state = State::new(&system, places.concat(), vec![0.0, 0.0, 0.0, 3.0, 2.0, 0.0]);
    assert!((start(&system, &mut state).unwrap() - 3.0).abs() < 1e-14);
    assert!(state.v[3].abs() < 1e-14 && (state.v[4] - 2.0).abs() < 1e-14 && (state.p[4] - 2.0).abs() < 1e-14);
    let mut far = State::new(&system, vec![0.0, 0.0, 0.0, 1.1, 0.0, 0.0], vec![0.0; 6]);
    assert!(matches!(start(&system, &mut far), Err(StartError::Violated { which: 0, .. })));
}
