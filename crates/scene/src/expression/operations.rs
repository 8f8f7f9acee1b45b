//! The instructions of a compiled formula, their values and their slopes.

/// One instruction of the postfix program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Constant(f64),
    Variable(u16),
    One(Unary),
    Two(Binary),
    Three(Ternary),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unary {
    Negate,
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Cbrt,
    Abs,
    Floor,
    Ceil,
    Sign,
    Step,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    Unequal,
    And,
    Or,
    Min,
    Max,
    Mod,
    Atan2,
    Hypot,
    StepAt,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ternary {
    Select,
    Clamp,
    Smoothstep,
}

/// Functions of one argument, by name.
pub(super) const UNARY: &[(&str, Unary)] = &[
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("tanh", Unary::Tanh),
    ("exp", Unary::Exp),
    ("ln", Unary::Ln),
    ("log10", Unary::Log10),
    ("sqrt", Unary::Sqrt),
    ("cbrt", Unary::Cbrt),
    ("abs", Unary::Abs),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("sign", Unary::Sign),
    ("step", Unary::Step),
];

/// Functions of two arguments, by name (`step` has a form for either count).
pub(super) const BINARY: &[(&str, Binary)] = &[
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("mod", Binary::Mod),
    ("atan2", Binary::Atan2),
    ("hypot", Binary::Hypot),
    ("pow", Binary::Power),
    ("step", Binary::StepAt),
];

/// Functions of three arguments, by name.
pub(super) const TERNARY: &[(&str, Ternary)] =
    &[("clamp", Ternary::Clamp), ("smoothstep", Ternary::Smoothstep)];

fn truth(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}

fn sign(x: f64) -> f64 {
    // Not `signum`, which gives ±1 at zero; NaN stays NaN.
    if x == 0.0 { 0.0 } else { x.signum() }
}

impl Unary {
    pub(super) fn value(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Not => truth(x == 0.0),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tan => x.tan(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
            Self::Sinh => x.sinh(),
            Self::Cosh => x.cosh(),
            Self::Tanh => x.tanh(),
            Self::Exp => x.exp(),
            Self::Ln => x.ln(),
            Self::Log10 => x.log10(),
            Self::Sqrt => x.sqrt(),
            Self::Cbrt => x.cbrt(),
            Self::Abs => x.abs(),
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Sign => sign(x),
            Self::Step => truth(x >= 0.0),
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Self::Negate => -1.0,
            Self::Sin => x.cos(),
            Self::Cos => -x.sin(),
            Self::Tan => x.cos().powi(-2),
            Self::Asin => 1.0 / (1.0 - x * x).sqrt(),
            Self::Acos => -1.0 / (1.0 - x * x).sqrt(),
            Self::Atan => 1.0 / (1.0 + x * x),
            Self::Sinh => x.cosh(),
            Self::Cosh => x.sinh(),
            Self::Tanh => x.cosh().powi(-2),
            Self::Exp => x.exp(),
            Self::Ln => 1.0 / x,
            Self::Log10 => 1.0 / (x * std::f64::consts::LN_10),
            Self::Sqrt => 0.5 / x.sqrt(),
            Self::Cbrt => 1.0 / (3.0 * x.cbrt().powi(2)),
            Self::Abs => sign(x),
            Self::Not | Self::Floor | Self::Ceil | Self::Sign | Self::Step => 0.0,
        }
    }
}

impl Binary {
    pub(super) fn value(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            // Squares are common and `a * a` is correctly rounded on every platform.
            Self::Power if b == 2.0 => a * a,
            Self::Power => a.powf(b),
            Self::Less => truth(a < b),
            Self::LessEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterEqual => truth(a >= b),
            Self::Equal => truth(a == b),
            Self::Unequal => truth(a != b),
            Self::And => truth(a != 0.0 && b != 0.0),
            Self::Or => truth(a != 0.0 || b != 0.0),
            // Unlike `f64::min`, NaN on either side gives NaN: a mistake must not be hidden.
            Self::Min if a < b || a.is_nan() => a,
            Self::Max if a > b || a.is_nan() => a,
            Self::Min | Self::Max => b,
            Self::Mod => a - b * (a / b).floor(),
            Self::Atan2 => a.atan2(b),
            Self::Hypot => a.hypot(b),
            Self::StepAt => truth(b >= a),
        }
    }

    /// Partial derivatives with respect to a and b.
    fn slopes(self, a: f64, b: f64) -> (f64, f64) {
        match self {
            Self::Add => (1.0, 1.0),
            Self::Subtract => (1.0, -1.0),
            Self::Multiply => (b, a),
            Self::Divide => (1.0 / b, -a / (b * b)),
            Self::Power => {
                let along_base = if b == 0.0 { 0.0 } else { b * Self::Power.value(a, b - 1.0) };
                // The limit as a → 0⁺ is 0 for positive exponents.
                let along_exponent = if a == 0.0 && b > 0.0 { 0.0 } else { a.powf(b) * a.ln() };
                (along_base, along_exponent)
            }
            Self::Min if a < b || a.is_nan() => (1.0, 0.0),
            Self::Max if a > b || a.is_nan() => (1.0, 0.0),
            Self::Min | Self::Max => (0.0, 1.0),
            Self::Mod => (1.0, -(a / b).floor()),
            Self::Atan2 => {
                let r2 = a * a + b * b;
                (b / r2, -a / r2)
            }
            Self::Hypot => {
                let r = a.hypot(b);
                if r == 0.0 { (0.0, 0.0) } else { (a / r, b / r) }
            }
            Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::Equal
            | Self::Unequal
            | Self::And
            | Self::Or
            | Self::StepAt => (0.0, 0.0),
        }
    }
}

impl Ternary {
    pub(super) fn value(self, a: f64, b: f64, c: f64) -> f64 {
        match self {
            Self::Select => {
                if a != 0.0 {
                    b
                } else {
                    c
                }
            }
            Self::Clamp => Binary::Min.value(Binary::Max.value(a, b), c),
            Self::Smoothstep => {
                let s = Self::Clamp.value((c - a) / (b - a), 0.0, 1.0);
                s * s * (3.0 - 2.0 * s)
            }
        }
    }

    /// Partial derivatives with respect to a, b and c.
    fn slopes(self, a: f64, b: f64, c: f64) -> (f64, f64, f64) {
        match self {
            Self::Select if a != 0.0 => (0.0, 1.0, 0.0),
            Self::Select => (0.0, 0.0, 1.0),
            Self::Clamp => {
                let low = Binary::Max.value(a, b);
                let (along_low, along_high) = Binary::Min.slopes(low, c);
                let (along_x, along_bound) = Binary::Max.slopes(a, b);
                (along_low * along_x, along_low * along_bound, along_high)
            }
            Self::Smoothstep => {
                let width = b - a;
                let s = Self::Clamp.value((c - a) / width, 0.0, 1.0);
                let rate = 6.0 * s * (1.0 - s) / width;
                (rate * (c - b) / width, -rate * (c - a) / width, rate)
            }
        }
    }
}

/// What a program computes with: numbers, or numbers with a derivative.
pub(super) trait Scalar: Copy {
    fn constant(value: f64) -> Self;
    fn one(op: Unary, x: Self) -> Self;
    fn two(op: Binary, a: Self, b: Self) -> Self;
    fn three(op: Ternary, a: Self, b: Self, c: Self) -> Self;
}

impl Scalar for f64 {
    fn constant(value: f64) -> Self {
        value
    }
    fn one(op: Unary, x: Self) -> Self {
        op.value(x)
    }
    fn two(op: Binary, a: Self, b: Self) -> Self {
        op.value(a, b)
    }
    fn three(op: Ternary, a: Self, b: Self, c: Self) -> Self {
        op.value(a, b, c)
    }
}

/// A value and its derivative with respect to one variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dual {
    pub(super) value: f64,
    pub(super) slope: f64,
}

/// A partial derivative times a tangent; what does not move contributes nothing, even where the
/// partial derivative is infinite.
fn chain(partial: f64, tangent: f64) -> f64 {
    if tangent == 0.0 { 0.0 } else { partial * tangent }
}

impl Scalar for Dual {
    fn constant(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
    fn one(op: Unary, x: Self) -> Self {
        Self { value: op.value(x.value), slope: chain(op.slope(x.value), x.slope) }
    }
    fn two(op: Binary, a: Self, b: Self) -> Self {
        let (along_a, along_b) = op.slopes(a.value, b.value);
        Self { value: op.value(a.value, b.value), slope: chain(along_a, a.slope) + chain(along_b, b.slope) }
    }
    fn three(op: Ternary, a: Self, b: Self, c: Self) -> Self {
        let (along_a, along_b, along_c) = op.slopes(a.value, b.value, c.value);
        Self {
            value: op.value(a.value, b.value, c.value),
            slope: chain(along_a, a.slope) + chain(along_b, b.slope) + chain(along_c, c.slope),
        }
    }
}

struct Stack<T, const N: usize> {
    items: [T; N],
    len: usize,
}

impl<T: Scalar, const N: usize> Stack<T, N> {
    fn push(&mut self, item: T) {
        if let Some(slot) = self.items.get_mut(self.len) {
            *slot = item;
            self.len += 1;
        }
    }

    fn pop(&mut self) -> T {
        self.len = self.len.saturating_sub(1);
        self.items.get(self.len).copied().unwrap_or(T::constant(f64::NAN))
    }
}

/// Runs a program; the compiler has made sure that it needs at most N pending operands.
pub(super) fn run<T: Scalar, const N: usize>(program: &[Op], variable: impl Fn(usize) -> T) -> T {
    let mut stack = Stack { items: [T::constant(0.0); N], len: 0 };
    for op in program {
        let result = match *op {
            Op::Constant(value) => T::constant(value),
            Op::Variable(index) => variable(usize::from(index)),
            Op::One(op) => T::one(op, stack.pop()),
            Op::Two(op) => {
                let b = stack.pop();
                let a = stack.pop();
                T::two(op, a, b)
            }
            Op::Three(op) => {
                let c = stack.pop();
                let b = stack.pop();
                let a = stack.pop();
                T::three(op, a, b, c)
            }
        };
        stack.push(result);
    }
    stack.pop()
}
