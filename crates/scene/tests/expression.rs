//! Formulas: known values, derivatives against differences, and text that nobody means.

use std::f64::consts::{E, PI};
use std::time::Instant;

use lilyan_scene::expression::{Expression, ExpressionError, MAX_DEPTH, MAX_LENGTH};

const VARIABLES: &[&str] = &["x", "y", "t"];

fn value(source: &str) -> f64 {
    Expression::parse(source, VARIABLES)
        .unwrap_or_else(|error| panic!("{source}: {error}"))
        .eval(&[2.0, 3.0, 0.5])
}

fn error(source: &str) -> ExpressionError {
    Expression::parse(source, VARIABLES).expect_err(source)
}

#[test]
fn known_values() {
    let cases: &[(&str, f64)] = &[
        ("0", 0.0),
        ("1e5", 1e5),
        (".5 + 1.", 1.5),
        ("1E-3", 1e-3),
        ("2e+2", 200.0),
        ("1+2*3", 7.0),
        ("(1+2)*3", 9.0),
        ("10-4-3", 3.0),
        ("64/4/2", 8.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("(-2)^2", 4.0),
        ("--x", 2.0),
        ("-x^2", -4.0),
        ("+x", 2.0),
        ("!x", 0.0),
        ("!(x==3)", 1.0),
        ("!x == 0", 1.0),
        ("x<y", 1.0),
        ("x<=2", 1.0),
        ("x>y", 0.0),
        ("x>=2", 1.0),
        ("x==2", 1.0),
        ("x!=2", 0.0),
        ("x<y && t<1", 1.0),
        ("x>y || t<1", 1.0),
        ("x>y || t<1 && x>5", 0.0),
        ("1e6 + 1e8*(x>1)", 1.01e8),
        ("-100*(t<0.5)", -0.0),
        ("x > 1 ? 10 : 20", 10.0),
        ("x > 5 ? 1 : x > 1 ? 2 : 3", 2.0),
        ("x > 5 ? sqrt(-1) : 4", 4.0),
        ("pi", PI),
        ("e", E),
        ("2*e", 2.0 * E),
        ("sin(pi/6)", (PI / 6.0).sin()),
        ("cos(0)", 1.0),
        ("tan(0.3)", 0.3_f64.tan()),
        ("asin(1)", PI / 2.0),
        ("acos(1)", 0.0),
        ("atan(1)", PI / 4.0),
        ("atan2(1, -1)", 0.75 * PI),
        ("sinh(1)", 1.0_f64.sinh()),
        ("cosh(1)", 1.0_f64.cosh()),
        ("tanh(1)", 1.0_f64.tanh()),
        ("exp(1)", E),
        ("ln(e)", 1.0),
        ("log10(1000)", 3.0),
        ("sqrt(16)", 4.0),
        ("cbrt(-27)", -3.0),
        ("abs(-3)", 3.0),
        ("min(3, 1, 2)", 1.0),
        ("max(3, x, 7, y)", 7.0),
        ("floor(-1.5)", -2.0),
        ("ceil(-1.5)", -1.0),
        ("sign(-3)", -1.0),
        ("sign(0)", 0.0),
        ("step(0)", 1.0),
        ("step(-1)", 0.0),
        ("step(3, x)", 0.0),
        ("step(2, x)", 1.0),
        ("mod(-1, 3)", 2.0),
        ("mod(7, 3)", 1.0),
        ("pow(2, 10)", 1024.0),
        ("hypot(3, 4)", 5.0),
        ("clamp(5, 0, 1)", 1.0),
        ("clamp(-5, 0, 1)", 0.0),
        ("clamp(x, 0, y)", 2.0),
        ("smoothstep(0, 1, t)", 0.5),
        ("smoothstep(0, 1, x)", 1.0),
        ("1/0", f64::INFINITY),
    ];
    for (source, expected) in cases {
        let found = value(source);
        let near = (found - expected).abs() <= 1e-15 * expected.abs();
        assert!(near || found == *expected, "{source} = {found}, not {expected}");
    }
    assert!(value("0/0").is_nan());
    assert!(value("min(0/0, 1)").is_nan() && value("max(1, 0/0)").is_nan());
}

#[test]
fn constants_and_dependence() {
    let parse = |source| Expression::parse(source, VARIABLES).expect(source);
    assert_eq!(parse("2*pi > 6 ? clamp(9, 0, 4) : -1").constant(), Some(4.0));
    assert_eq!(parse("2*x").constant(), None);
    assert!(parse("x + sin(t)").depends_on(2) && !parse("x + sin(t)").depends_on(1));
    assert!(parse("x + t").eval(&[1.0]).is_nan(), "a missing variable must be noticed");
}

#[test]
fn errors_name_the_column_and_the_remedy() {
    let cases: &[(&str, usize, &str)] = &[
        ("", 1, "empty"),
        ("   ", 4, "empty"),
        ("1 +", 4, "expected a number"),
        ("(1", 3, "\")\""),
        ("1)", 2, "operator"),
        ("2x", 2, "write * to multiply"),
        ("x = 2", 3, "write =="),
        ("x & y", 3, "write &&"),
        ("x | y", 3, "write ||"),
        ("x % 2", 3, "mod(a, b)"),
        ("x ** 2", 3, "write ^"),
        ("x < y < 3", 7, "do not chain"),
        ("x ? 1", 6, "\":\""),
        ("sn(x)", 1, "did you mean \"sin\"?"),
        ("log(x)", 1, "did you mean \"ln\"?"),
        ("arctan(x)", 1, "did you mean \"atan\"?"),
        ("1 + tt", 5, "known here: x, y, t, pi, e"),
        ("sin", 1, "write sin("),
        ("x(2)", 1, "not a function"),
        ("sin(1, 2)", 1, "takes 1 argument, not 2"),
        ("sin()", 1, "takes 1 argument, not 0"),
        ("min(1)", 1, "2 or more"),
        ("clamp(1)", 1, "takes 3 arguments, not 1"),
        ("step(1,2,3)", 1, "1 or 2 arguments, not 3"),
        ("1e999", 1, "too large"),
        ("1.2.3", 4, "expected an operator"),
        (".", 1, "not a number"),
        ("x § 2", 3, "no meaning"),
        ("ä + ü", 1, "unknown name"),
    ];
    for (source, column, part) in cases {
        let error = error(source);
        assert_eq!(error.column, *column, "{source}: {error}");
        assert!(error.message.contains(part), "{source}: {error}");
    }
}

#[test]
fn depth_and_length_are_limited() {
    let nested = |n: usize| format!("{}x{}", "(".repeat(n), ")".repeat(n));
    assert!(Expression::parse(&nested(MAX_DEPTH - 1), VARIABLES).is_ok());
    let hostile = [
        nested(MAX_DEPTH + 1),
        nested(4000),
        "(".repeat(8000),
        "-".repeat(8000) + "x",
        "!".repeat(8000),
        "x^".repeat(4000) + "x",
        "x?1:".repeat(2000) + "1",
        "x?".repeat(4000),
        "sin(".repeat(2000),
        "max(x,".repeat(1000) + "x" + &")".repeat(1000),
    ];
    for source in hostile {
        let error = error(&source);
        assert!(error.message.contains("deep"), "{error}");
    }
    let long = "1+".repeat(MAX_LENGTH) + "1";
    assert!(error(&long).message.contains("mesh file"));
    // Deep but allowed formulas keep many operands waiting.
    let wide = "x || y && x == y + t * x ^ (".repeat(30) + "x" + &")".repeat(30);
    if let Ok(formula) = Expression::parse(&wide, VARIABLES) {
        assert!(!formula.eval(&[1.0, 2.0, 3.0]).is_nan());
    }
    let list = format!("max({}x)", "t,".repeat(3000));
    assert_eq!(value(&list), 2.0);
}

/// SplitMix64: the tests need the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A random formula as text, and the same as a closure of (x, y, t).
type Twin = (String, Box<dyn Fn(f64, f64, f64) -> f64>);

fn random_formula(random: &mut Random, depth: usize) -> Twin {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(4) {
            0 => ("x".into(), Box::new(|x, _, _| x)),
            1 => ("y".into(), Box::new(|_, y, _| y)),
            2 => ("t".into(), Box::new(|_, _, t| t)),
            _ => {
                let c = (random.unit() * 4.0 - 2.0) * 10f64.powi(random.below(4) as i32 - 2);
                (format!("({c:?})"), Box::new(move |_, _, _| c))
            }
        };
    }
    let (sa, a) = random_formula(random, depth - 1);
    let (sb, b) = random_formula(random, depth - 1);
    match random.below(14) {
        0 => (format!("{sa}+({sb})"), Box::new(move |x, y, t| a(x, y, t) + b(x, y, t))),
        1 => (format!("({sa})-({sb})"), Box::new(move |x, y, t| a(x, y, t) - b(x, y, t))),
        2 => (format!("({sa})*({sb})"), Box::new(move |x, y, t| a(x, y, t) * b(x, y, t))),
        3 => (
            format!("({sa})/(2+({sb})^2)"),
            Box::new(move |x, y, t| a(x, y, t) / (2.0 + b(x, y, t) * b(x, y, t))),
        ),
        4 => (format!("sin({sa})"), Box::new(move |x, y, t| a(x, y, t).sin())),
        5 => (format!("tanh ( {sa} )"), Box::new(move |x, y, t| a(x, y, t).tanh())),
        6 => (
            format!("atan2({sa}, 3+abs({sb}))"),
            Box::new(move |x, y, t| a(x, y, t).atan2(3.0 + b(x, y, t).abs())),
        ),
        7 => (format!("sqrt(1+({sa})^2)"), Box::new(move |x, y, t| (1.0 + a(x, y, t).powi(2)).sqrt())),
        8 => (format!("exp(-abs({sa}))"), Box::new(move |x, y, t| (-a(x, y, t).abs()).exp())),
        9 => (format!("ln(1+hypot({sa},1))"), Box::new(move |x, y, t| (1.0 + a(x, y, t).hypot(1.0)).ln())),
        10 => (
            format!("(1.5+cos({sa}))^sin({sb})"),
            Box::new(move |x, y, t| (1.5 + a(x, y, t).cos()).powf(b(x, y, t).sin())),
        ),
        11 => (
            format!("smoothstep(-2, 2.5, {sa})"),
            Box::new(move |x, y, t| {
                let s = ((a(x, y, t) + 2.0) / 4.5).clamp(0.0, 1.0);
                s * s * (3.0 - 2.0 * s)
            }),
        ),
        12 => (
            format!("(x > 0.1 ? {sa} : {sb})"),
            Box::new(move |x, y, t| if x > 0.1 { a(x, y, t) } else { b(x, y, t) }),
        ),
        _ => (format!("-({sa})"), Box::new(move |x, y, t| -a(x, y, t))),
    }
}

#[test]
fn random_formulas_agree_with_closures_and_their_derivatives_with_differences() {
    let mut random = Random(7);
    let mut compared = 0;
    for _ in 0..400 {
        let (source, closure) = random_formula(&mut random, 5);
        let Ok(formula) = Expression::parse(&source, VARIABLES) else {
            assert!(source.len() > MAX_LENGTH, "{source}");
            continue;
        };
        let at = [random.unit() * 3.0 - 1.0, random.unit() * 3.0 - 1.0, random.unit() * 3.0];
        let [x, y, t] = at;
        let (found, expected) = (formula.eval(&at), closure(x, y, t));
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            "{source} at {at:?}: {found}, not {expected}"
        );
        for wrt in 0..3 {
            let (v, slope) = formula.eval_dual(&at, wrt);
            assert_eq!(v.to_bits(), found.to_bits(), "the value must not depend on how it is asked");
            let along = |h: f64| {
                let mut p = at;
                p[wrt] += h;
                formula.eval(&p)
            };
            // Five-point differences at two widths: where they disagree, a kink or cancellation is near.
            let five =
                |h: f64| (8.0 * (along(h) - along(-h)) - (along(2.0 * h) - along(-2.0 * h))) / (12.0 * h);
            let (coarse, fine) = (five(2e-3), five(1e-3));
            let scale = 1.0 + slope.abs();
            if (coarse - fine).abs() < 1e-8 * scale {
                compared += 1;
                assert!(
                    (fine - slope).abs() < 1e-7 * scale,
                    "{source} at {at:?} by {wrt}: {slope}, not {fine}"
                );
            }
        }
    }
    assert!(compared > 900, "only {compared} derivatives were comparable");
}

#[test]
fn derivative_of_every_function() {
    let cases = [
        "sin(t)",
        "cos(t)",
        "tan(t)",
        "asin(t)",
        "acos(t)",
        "atan(t)",
        "sinh(t)",
        "cosh(t)",
        "tanh(t)",
        "exp(t)",
        "ln(t)",
        "log10(t)",
        "sqrt(t)",
        "cbrt(t)",
        "abs(t-1)",
        "floor(t)",
        "ceil(t)",
        "sign(t)",
        "step(t)",
        "step(0.1, t)",
        "mod(5*t, 0.7)",
        "mod(3, t)",
        "atan2(t, x)",
        "atan2(x, t)",
        "hypot(t, x)",
        "hypot(x, t)",
        "pow(t, 3)",
        "pow(x, t)",
        "t^t",
        "t/x",
        "x/t",
        "min(t, x)",
        "max(x, t)",
        "clamp(t, 0, 1)",
        "clamp(x, 0, t)",
        "clamp(-5, t, 1)",
        "smoothstep(0, 1, t)",
        "smoothstep(t, 3, x)",
        "smoothstep(0, 2+t, x)",
        "t > 0.2 ? t^2 : 0",
        "!t",
        "t && x",
        "t || x",
        "(t == 1) + (t != 1) + (t < 1) + (t <= 1) + (t >= 1)",
        "0^t",
    ];
    for source in cases {
        let formula = Expression::parse(source, VARIABLES).expect(source);
        let at = |t: f64| [2.0, 3.0, t];
        let (_, slope) = formula.eval_dual(&at(0.43), 2);
        let h = 1e-5;
        let difference = (formula.eval(&at(0.43 + h)) - formula.eval(&at(0.43 - h))) / (2.0 * h);
        assert!(
            (slope - difference).abs() < 1e-8 * (1.0 + slope.abs()),
            "{source}: {slope}, not {difference}"
        );
    }
    // What does not move has no derivative, even where the function has a vertical tangent.
    let formula = Expression::parse("sqrt(x-2) + t", VARIABLES).expect("valid");
    assert_eq!(formula.eval_dual(&[2.0, 0.0, 1.0], 2), (1.0, 1.0));
}

#[test]
fn random_text_never_panics() {
    const PIECES: &[&str] = &[
        "1", "2.5", "1e", "e", "x", "y", "t", "sin", "max", "clamp", "step", "(", ")", ",", "+", "-", "*",
        "/", "^", "<", "<=", "==", "=", "!", "!=", "&&", "&", "||", "?", ":", " ", ".", "é", "\0", "\n",
        "1e308*10", "%", "[", "zz", "1e-400", "٣",
    ];
    let mut random = Random(11);
    let mut good = 0;
    for _ in 0..20_000 {
        let longest = if random.below(20) == 0 { 300 } else { 12 };
        let length = 1 + random.below(longest);
        let source: String = (0..length).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let start = Instant::now();
        if let Ok(formula) = Expression::parse(&source, VARIABLES) {
            good += 1;
            formula.eval(&[0.1, 0.2, 0.3]);
            formula.eval_dual(&[0.1, f64::NAN, f64::INFINITY], 1);
        }
        assert!(start.elapsed().as_secs() < 1);
    }
    assert!(good > 200, "the pieces should sometimes make a formula, not {good} times");
}
