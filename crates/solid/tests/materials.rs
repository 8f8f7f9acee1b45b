//! Every material of the catalogue against its own card: P1 (stress = ∂ψ/∂F), P2 (Hessian), P3
//! (frame indifference), rest state, small-strain moduli, inversion, lanes = scalars.
//! `cargo test -p lilyan-solid --test materials -- --nocapture` prints the largest errors.
#![allow(non_snake_case)]

use lilyan_solid::materials::basis_tangent::contract;
use lilyan_solid::materials::{CATALOGUE, Constants, ConstantsError, Given, Mat9, Material, Places, find};
use lilyan_solid::math::{Complex, LANES, Lanes, Mat3, Scalar, Svd, Vec3, eigen_symmetric, project_positive};

/// Numbers in [−1, 1), the same in every run.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self) -> Mat3 {
        Mat3::from_fn(|_, _| self.number())
    }

    fn rotation(&mut self) -> Mat3 {
        Svd::new(&self.matrix()).rotation()
    }

    /// Random rotations on both sides of diag(σ).
    fn turned(&mut self, sigma: Vec3) -> Mat3 {
        (self.rotation() * Mat3::diagonal(sigma)).mul_transpose(&self.rotation())
    }
}

const REPEATED: [Vec3; 5] =
    [[1.0, 1.0, 1.0], [1.3, 0.7, 0.7], [1.4, 1.4, 0.6], [0.6, 0.6, 0.6], [1.0 + 1e-9, 1.0, 1.0 - 1e-9]];
/// Away from σ₁ + σ₂ = 0, where the polar rotation is not differentiable.
const INVERTED: [Vec3; 6] = [
    [1.5, 0.8, 0.0],
    [1.0, 1.0, 0.0],
    [1.2, 0.9, -0.3],
    [1.0, 1.0, -0.4],
    [0.9, 0.8, -1e-9],
    [2.0, 1.5, -1.0],
];

/// 100 F and the special ones that the card allows.
fn samples(material: &dyn Material) -> Vec<Mat3> {
    let mut random = Random(1);
    let mut out = Vec::new();
    for _ in 0..100 {
        let sigma = [0, 1, 2].map(|_| 1.2 + 0.8 * random.number());
        out.push(random.turned(sigma));
    }
    let inverted: &[Vec3] = if material.card().survives_inversion { &INVERTED } else { &[] };
    for sigma in REPEATED.iter().chain(inverted) {
        out.push(Mat3::diagonal(*sigma));
        for _ in 0..4 {
            out.push(random.turned(*sigma));
        }
    }
    out
}

/// A positive definite stiffness with all 21 constants, and the moduli beside it.
fn anisotropic() -> Given {
    let mut random = Random(21);
    let g: [[f64; 6]; 6] = std::array::from_fn(|_| std::array::from_fn(|_| random.number()));
    let mut given = Given::from_young(1e5, 0.3).unwrap();
    for i in 0..6 {
        for j in i..6 {
            let gram: f64 = (0..6).map(|k| g[i][k] * g[j][k]).sum();
            let value = 2e4 * gram + if i == j { 5e4 } else { 0.0 };
            given = given.with(&format!("C{}{}", i + 1, j + 1), value);
        }
    }
    given
}

struct Case {
    material: &'static dyn Material,
    name: String,
    given: Given,
    c: Vec<f64>,
}

/// Every material × moduli, and the constants that its card says it takes.
fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    for &material in CATALOGUE {
        let mut all: Vec<Given> = [(1e5, 0.3), (2e9, 0.45), (1.0, 0.0), (3e3, -0.4)]
            .map(|(E, nu)| Given::from_young(E, nu).unwrap())
            .to_vec();
        for parameter in material.card().parameters {
            let base = all[0].clone();
            match parameter.name {
                "C11" => all.push(anisotropic()),
                name if name.starts_with('C') => {}
                "k" => all.push(base.clone().with("k", 2.0 * base.mu)),
                "split" => all.extend([0.0, 1.0].map(|x| base.clone().with("split", x))),
                name => all.push(base.clone().with(name, 0.2 * base.mu)),
            }
        }
        for (n, given) in all.into_iter().enumerate() {
            let name = format!("{} #{n}", material.card().name);
            let c = material.constants(&given).unwrap();
            out.push(Case { material, name, given, c });
        }
    }
    out
}

fn norm(m: &Mat3) -> f64 {
    m.dot(m).sqrt()
}

fn norm9(k: &Mat9) -> f64 {
    k.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
}

fn minus9(a: &Mat9, b: &Mat9) -> Mat9 {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] - b[i][j]))
}

fn with_step(F: &Mat3, k: usize, step: f64) -> Mat3 {
    let mut out = *F;
    out.0[k / 3][k % 3] += step;
    out
}

fn with_imaginary(F: &Mat3, k: usize, step: f64) -> Mat3<Complex> {
    let mut out = Mat3::from_fn(|i, j| Complex::new(F[(i, j)]));
    out.0[k / 3][k % 3].im = step;
    out
}

/// f' by central differences of fourth order: the error is below 1e-9 of f's own scale.
fn central<T: Copy>(f: impl Fn(f64) -> T, combine: impl Fn([T; 4], [f64; 4]) -> T) -> T {
    let h = 4e-4;
    let w = [1.0, -8.0, 8.0, -1.0].map(|w| w / (12.0 * h));
    combine([f(-2.0 * h), f(-h), f(h), f(2.0 * h)], w)
}

/// The largest value of each kind of error, by case, and its limit.
struct Worst(Vec<(String, &'static str, f64, f64)>);

impl Worst {
    fn see(&mut self, name: &str, what: &'static str, limit: f64, value: f64) {
        let value = if value.is_nan() { f64::INFINITY } else { value };
        match self.0.iter_mut().find(|w| w.0 == name && w.1 == what) {
            Some(w) => w.2 = w.2.max(value),
            None => self.0.push((name.to_owned(), what, value, limit)),
        }
    }

    fn report(self) {
        for (name, what, value, limit) in &self.0 {
            println!("{name:24} {what:32} {value:.1e} (limit {limit:.0e})");
        }
        let bad: Vec<_> = self.0.iter().filter(|w| w.2 > w.3).collect();
        assert!(bad.is_empty(), "{bad:#?}");
    }
}

#[test]
fn p1_stress_is_the_derivative_of_the_energy() {
    let mut worst = Worst(Vec::new());
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        for F in samples(m) {
            let P = m.stress(c, &F);
            // Round-off of F itself moves P by the Hessian's norm, so that is part of the scale.
            let scale = norm(&P).max(norm9(&m.hessian(c, &F)));
            let mut step = Mat3::zero();
            let mut difference = Mat3::zero();
            for k in 0..9 {
                let ih = 1e-30;
                step.0[k / 3][k % 3] = m.energy_complex(c, &with_imaginary(&F, k, ih)).im / ih;
                difference.0[k / 3][k % 3] =
                    central(|h| m.energy(c, &with_step(&F, k, h)), |f, w| (0..4).map(|n| f[n] * w[n]).sum());
            }
            if m.card().analytic {
                let error = norm(&(step - P)) / scale;
                worst.see(&case.name, "P1 complex step", 1e-14, error);
            }
            let error = norm(&(difference - P)) / scale;
            worst.see(&case.name, "P1 central", 1e-8, error);
        }
    }
    worst.report();
}

/// What materials have as a shortcut to the stiffness between corners is ∂P/∂F contracted.
#[test]
fn stiffness_between_corners_is_the_contracted_hessian() {
    let gradients = Mat3([[1.3, -0.2, 0.4], [0.1, 0.8, -0.5], [-0.6, 0.3, 1.1]]);
    let mut worst = Worst(Vec::new());
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        for F in samples(m) {
            let got = m.in_basis(c, &F, &gradients);
            let want = contract(&m.hessian(c, &F), &gradients);
            let size = want.iter().flatten().fold(0.0f64, |s, x| s.max(x.abs()));
            let error = got.iter().flatten().zip(want.iter().flatten());
            let error = error.fold(0.0f64, |e, (a, b)| e.max((a - b).abs()));
            worst.see(&case.name, "stiffness between corners", 1e-13, error / size);
            let lanes = |x: f64| Lanes([x; LANES]);
            let spread = |m: &Mat3| Mat3(m.0.map(|row| row.map(lanes)));
            let constants = Constants::uniform(c.clone());
            let at = Places { constants: &constants, first: 0 };
            for projected in [false, true] {
                let mut got = [[[lanes(0.0); 9]; 6]];
                m.tangents(at, projected, &[spread(&F)], &[&spread(&gradients)], &mut got);
                let [got] = got;
                let tangent = if projected { m.hessian_projected(c, &F) } else { m.hessian(c, &F) };
                let want = contract(&tangent, &gradients);
                let error = got.iter().flatten().zip(want.iter().flatten());
                let error = error.fold(0.0f64, |e, (a, b)| e.max((a.0[1] - b).abs()));
                worst.see(&case.name, "stiffness in lanes", 1e-12, error / size);
            }
            let mut product = [spread(&F)];
            m.projected_products(at, &[[spread(&F), spread(&gradients)]], &mut product);
            let tangent = m.hessian_projected(c, &F);
            let want = lilyan_solid::materials::basis_tangent::product(&tangent, &gradients);
            let off = product[0].lane(1) - want;
            let size = norm9(&m.hessian(c, &F)) * gradients.dot(&gradients).sqrt();
            let error = off.dot(&off).sqrt() / size;
            worst.see(&case.name, "projected product", 1e-12, error);
        }
    }
    worst.report();
}

#[test]
fn p2_hessian_is_the_derivative_of_the_stress() {
    let mut worst = Worst(Vec::new());
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        for F in samples(m) {
            let K = m.hessian(c, &F);
            let scale = norm9(&K);
            let mut step = [[0.0; 9]; 9];
            let mut difference = [[0.0; 9]; 9];
            let mut asymmetry = 0.0f64;
            for b in 0..9 {
                let ih = 1e-30;
                let dP = m.stress_complex(c, &with_imaginary(&F, b, ih));
                let central = central(
                    |h| m.stress(c, &with_step(&F, b, h)),
                    |f, w| (0..4).fold(Mat3::zero(), |s, n| s + f[n].scale(w[n])),
                );
                for a in 0..9 {
                    step[a][b] = dP.0[a / 3][a % 3].im / ih;
                    difference[a][b] = central.0[a / 3][a % 3];
                    asymmetry = asymmetry.max((K[a][b] - K[b][a]).abs());
                }
            }
            worst.see(&case.name, "P2 asymmetry", 1e-14, asymmetry / scale);
            if m.card().analytic {
                let error = norm9(&minus9(&step, &K)) / scale;
                worst.see(&case.name, "P2 complex step", 1e-13, error);
            }
            let error = norm9(&minus9(&difference, &K)) / scale;
            worst.see(&case.name, "P2 central", 1e-7, error);
        }
    }
    worst.report();
}

#[test]
fn p2_projection() {
    let mut worst = Worst(Vec::new());
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        let mut indefinite = 0;
        for F in samples(m) {
            let (K, projected) = (m.hessian(c, &F), m.hessian_projected(c, &F));
            let (exact, _) = eigen_symmetric(&K);
            let (lambda, _) = eigen_symmetric(&projected);
            let most = lambda.iter().fold(0.0f64, |a, &b| a.max(b));
            let least = lambda.iter().fold(f64::INFINITY, |a, &b| a.min(b));
            worst.see(&case.name, "P2 negative after projection", 1e-12, -least / norm9(&K));
            // The eigensystem against Jacobi's; where nothing is negative, against K itself.
            let unprojected = exact.iter().all(|&l| l >= 0.0);
            indefinite += usize::from(exact.iter().any(|&l| l < -1e-3 * most));
            let reference = if unprojected { K } else { project_positive(&K) };
            let error = norm9(&minus9(&projected, &reference)) / norm9(&K);
            let what = if unprojected { "P2 unchanged where positive" } else { "P2 projection" };
            worst.see(&case.name, what, 1e-12, error);
        }
        let ever = m.card().frame_indifferent;
        assert_eq!(indefinite > 0, ever, "{}: {indefinite} indefinite", case.name);
    }
    worst.report();
}

#[test]
fn p3_frame_indifference() {
    let mut worst = Worst(Vec::new());
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        let mut random = Random(5);
        let mut energy_change = 0.0f64;
        for F in samples(m) {
            let Q = random.rotation();
            let (P, turned) = (m.stress(c, &F), Q * F);
            let psi = m.energy(c, &F);
            let scale = psi.abs() + norm(&P) * norm(&F) + 1e-3 * norm9(&m.hessian(c, &F));
            let change = (m.energy(c, &turned) - psi).abs() / scale;
            energy_change = energy_change.max(change);
            if m.card().frame_indifferent {
                let stiffness = norm9(&m.hessian(c, &F)).max(norm(&P));
                let error = norm(&(m.stress(c, &turned) - Q * P)) / stiffness;
                let torque = P.mul_transpose(&F).axial();
                let torque = torque.iter().map(|x| x * x).sum::<f64>().sqrt();
                worst.see(&case.name, "P3 energy", 1e-13, change);
                worst.see(&case.name, "P3 stress", 1e-13, error);
                worst.see(&case.name, "P3 torque", 1e-14, torque / (stiffness * norm(&F)));
            }
        }
        if !m.card().frame_indifferent {
            assert!(energy_change > 1e-3, "{}: the card says otherwise", case.name);
        }
    }
    worst.report();
}

#[test]
fn rest_state_and_small_strain() {
    let mut worst = Worst(Vec::new());
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        let (lambda, mu) = m.card().small_strain.lame(&case.given);
        let one = Mat3::identity();
        assert_eq!(m.energy(c, &one), 0.0, "{}", case.name);
        let residual = norm(&m.stress(c, &one)) / case.given.E;
        worst.see(&case.name, "stress at rest", 1e-15, residual);
        let expected = |e: &Mat3| -> Mat3 {
            if case.given.get("C11").is_some() {
                let voigt = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];
                let mut sigma = Mat3::zero();
                for (a, (i, j)) in voigt.into_iter().enumerate() {
                    for (b, (k, l)) in voigt.into_iter().enumerate() {
                        let key = format!("C{}{}", a.min(b) + 1, a.max(b) + 1);
                        let strain = e[(k, l)] * if k == l { 1.0 } else { 2.0 };
                        sigma[(i, j)] += case.given.get(&key).unwrap() * strain;
                    }
                    sigma[(j, i)] = sigma[(i, j)];
                }
                return sigma;
            }
            e.scale(2.0 * mu) + one.scale(lambda * e.trace())
        };
        let K = m.hessian(c, &one);
        let mut reference = [[0.0; 9]; 9];
        for b in 0..9 {
            let column = expected(&with_step(&Mat3::zero(), b, 1.0).symmetric_part());
            for a in 0..9 {
                reference[a][b] = column.0[a / 3][a % 3];
            }
        }
        let error = norm9(&minus9(&K, &reference)) / norm9(&reference);
        worst.see(&case.name, "moduli at rest", 1e-14, error);

        let mut random = Random(9);
        for _ in 0..100 {
            let e = random.matrix().symmetric_part().scale(1e-7);
            let turn = if m.card().frame_indifferent { random.rotation() } else { one };
            let F = turn * (one + e);
            let quadratic = 0.5 * e.dot(&expected(&e));
            let error = (m.energy(c, &F) / quadratic - 1.0).abs();
            worst.see(&case.name, "energy at strain 1e-7", 1e-5, error);
        }
    }
    worst.report();
}

#[test]
fn infeasible_and_degenerate() {
    let bad = [
        Mat3::diagonal([1.0, 1.0, -0.1]),
        Mat3::diagonal([1.0, 1.0, 0.0]),
        Mat3::diagonal([-1.0, -1.0, -1.0]),
        Mat3::zero(),
        Mat3::diagonal([f64::NAN, 1.0, 1.0]),
        Mat3::diagonal([f64::INFINITY, 1.0, 1.0]),
        Mat3::diagonal([1e200, 1e200, 1e200]),
    ];
    let degenerate = [
        Mat3::zero(),
        Mat3::diagonal([1.0, 0.0, 0.0]),
        Mat3::diagonal([1.0, 1.0, -1.0]),
        Mat3::diagonal([-1.0, -1.0, -1.0]),
        Mat3::diagonal([0.5, 2.0, -0.5]),
        Mat3::outer([1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]),
    ];
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        if m.card().survives_inversion {
            for F in degenerate {
                assert!(m.energy(c, &F).is_finite(), "{}", case.name);
                assert!(norm(&m.stress(c, &F)).is_finite(), "{}", case.name);
                assert!(norm9(&m.hessian(c, &F)).is_finite(), "{}", case.name);
                let (lambda, _) = eigen_symmetric(&m.hessian_projected(c, &F));
                let most = lambda.iter().fold(0.0f64, |a, &b| a.max(b));
                assert!(lambda.iter().all(|&l| l >= -1e-12 * most), "{}", case.name);
            }
        } else {
            for F in bad {
                assert_eq!(m.energy(c, &F), f64::INFINITY, "{} at {F:?}", case.name);
                let packed = Mat3::from_fn(|i, j| Lanes([F[(i, j)]; LANES]));
                assert_eq!(energy_in_lanes(m, c, packed).0, [f64::INFINITY; LANES]);
            }
        }
    }
}

fn energy_in_lanes(m: &dyn Material, c: &[f64], F: Mat3<Lanes>) -> Lanes {
    let constants = Constants::uniform(c.to_vec());
    let mut psi = [Lanes::new(0.0)];
    m.energies(Places { constants: &constants, first: 0 }, &[F], &mut psi);
    psi[0]
}

fn stress_in_lanes(m: &dyn Material, c: &[f64], F: Mat3<Lanes>) -> Mat3<Lanes> {
    let constants = Constants::uniform(c.to_vec());
    let mut P = [F];
    m.stresses(Places { constants: &constants, first: 0 }, &[F], &mut P);
    P[0]
}

#[test]
fn lanes_give_the_numbers_of_scalars() {
    for case in cases() {
        let (m, c) = (case.material, &case.c);
        let mut all = samples(m);
        all.push(Mat3::diagonal([1.0, 0.0, 0.0]));
        all.push(Mat3::diagonal([1.0, 1.0, -1.0]));
        for F in all.chunks_exact(LANES) {
            let packed = Mat3::from_fn(|i, j| Lanes(std::array::from_fn(|l| F[l][(i, j)])));
            let (psi, P) = (energy_in_lanes(m, c, packed), stress_in_lanes(m, c, packed));
            for l in 0..LANES {
                let scalar = m.energy(c, &F[l]);
                let scale = norm9(&m.hessian(c, &F[l])) * norm(&F[l]);
                let near =
                    |a: f64, b: f64| a == b || (a - b).abs() <= 1e-14 * scale || (a.is_nan() && b.is_nan());
                assert!(near(psi.0[l], scalar), "{}: {} {scalar}", case.name, psi.0[l]);
                let scalar = m.stress(c, &F[l]);
                for k in 0..9 {
                    let pair = (P.lane(l).0[k / 3][k % 3], scalar.0[k / 3][k % 3]);
                    assert!(near(pair.0, pair.1), "{}: {pair:?} {scale}", case.name);
                }
            }
        }
    }
}

#[test]
fn constants_are_checked() {
    let say = |r: Result<Given, ConstantsError>| r.unwrap_err().to_string();
    assert!(say(Given::from_young(-1.0, 0.3)).contains("positive"));
    assert!(say(Given::from_young(f64::NAN, 0.3)).contains("positive"));
    assert!(say(Given::from_young(1.0, 0.5)).contains("0.49"));
    assert!(say(Given::from_young(1.0, f64::NAN)).contains("between"));
    assert!(say(Given::from_lame(-1.0, 1.0)).contains("raise lambda"));
    assert!(say(Given::from_lame(1.0, 0.0)).contains("mu > 0"));
    let (a, b) = (Given::from_young(7e4, 0.2), Given::from_young(7e4, -0.2));
    for given in [a.unwrap(), b.unwrap()] {
        let back = Given::from_lame(given.lambda, given.mu).unwrap();
        assert!((back.E / given.E - 1.0).abs() < 1e-14 && (back.nu - given.nu).abs() < 1e-15);
    }

    let given = Given::from_young(1e5, 0.3).unwrap();
    let mooney = find("mooney-rivlin").unwrap();
    let refuse = |g: Given| mooney.constants(&g).unwrap_err().to_string();
    let both = given.clone().with("a", 1e4).with("b", 2e4);
    assert!(refuse(both).contains("give E = 156000"));
    assert!(refuse(given.clone().with("split", 1.5)).contains("within"));
    assert!(refuse(given.clone().with("split", 0.5).with("a", 1.0)).contains("not both"));
    assert!(refuse(given.clone().with("c", 0.5)).contains("takes split, a, b"));

    let linear = find("linear").unwrap();
    let lacking = linear.constants(&given.clone().with("C11", 1.0));
    assert!(lacking.unwrap_err().to_string().contains("lacks C12"));
    let indefinite = linear.constants(&anisotropic().with("C12", 1e6));
    assert!(indefinite.unwrap_err().to_string().contains("not positive definite"));
    assert!(find("no-such-material").is_none());
}

#[test]
fn cards_are_complete() {
    for (n, m) in CATALOGUE.iter().enumerate() {
        let card = m.card();
        let words = [card.name, card.summary, card.formula, card.cite];
        assert!(words.iter().all(|w| !w.is_empty()), "{card:?}");
        let before = &CATALOGUE[..n];
        assert!(before.iter().all(|other| other.card().name != card.name));
    }
}
