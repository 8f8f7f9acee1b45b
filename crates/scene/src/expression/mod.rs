//! Formulas in scene files: `"1e6 + 1e8*(x>2)"`, `"0.1*sin(2*pi*t)"`.
//!
//! A formula is compiled once to a flat postfix program and then evaluated without recursion and
//! without allocation, either to its value or to value and exact derivative (dual numbers).
//!
//! | written | meaning |
//! |---|---|
//! | `+ - * / ^` | arithmetic; `^` binds tighter than unary minus and to the right: `-2^2` is −4, `2^3^2` is 512 |
//! | `< <= > >= == !=` | 1 if true, else 0 |
//! | `&& \|\| !` | logic; anything but 0 counts as true |
//! | `a ? b : c` | b if a is not 0, else c |
//! | `sin cos tan asin acos atan sinh cosh tanh exp ln log10 sqrt cbrt abs floor ceil sign` | of one number |
//! | `atan2(y,x) hypot(a,b) pow(a,b) mod(a,b)` | `mod` has the sign of b: a − b·floor(a/b) |
//! | `min(a,b,…) max(a,b,…)` | of two or more |
//! | `step(x)`, `step(edge,x)` | 0 below 0 (or below the edge), else 1 |
//! | `clamp(x,low,high)`, `smoothstep(from,to,x)` | |
//! | `pi e` | constants |
//!
//! The derivative of a jump (`floor`, `step`, comparisons, the two sides of `?:`) is taken as that of the
//! branch in force.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod operations;
mod parse;

use lilyan_dynamics::options::Formula;
use operations::{Op, Scalar};

/// Formulas may nest this deep (parentheses, calls, `?:`, chains of `^` or unary signs).
pub const MAX_DEPTH: usize = 64;
/// Formulas may be this long, bytes.
pub const MAX_LENGTH: usize = 8192;
/// Pending operands that a program may hold; enough for [`MAX_DEPTH`] in ordinary formulas.
const MAX_STACK: usize = 192;
/// Programs that need no more than this run on a small stack, which is faster to clear.
const SMALL_STACK: usize = 12;

/// A compiled formula of named variables.
#[derive(Clone, Debug)]
pub struct Expression {
    source: String,
    variables: Vec<String>,
    program: Vec<Op>,
    stack: usize,
}

/// Why a formula cannot be read, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Character at which reading stopped, from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for ExpressionError {}

impl Expression {
    /// Compiles a formula of the given variables, whose values [`Expression::eval`] takes in this order.
    ///
    /// ```
    /// use lilyan_scene::expression::Expression;
    /// let young = Expression::parse("1e6 + 1e8*(x>2)", &["x", "y", "z"])?;
    /// assert_eq!(young.eval(&[3.0, 0.0, 0.0]), 1.01e8);
    /// # Ok::<(), lilyan_scene::expression::ExpressionError>(())
    /// ```
    pub fn parse(source: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        let (program, stack) = parse::compile(source, variables)?;
        Ok(Self {
            source: source.to_owned(),
            variables: variables.iter().map(|&v| v.to_owned()).collect(),
            program,
            stack,
        })
    }

    /// The value at the given values of the variables (a missing one counts as NaN).
    pub fn eval(&self, values: &[f64]) -> f64 {
        self.run(|index| values.get(index).copied().unwrap_or(f64::NAN))
    }

    /// Value and derivative with respect to variable number `wrt`.
    ///
    /// ```
    /// use lilyan_scene::expression::Expression;
    /// let motion = Expression::parse("t^3", &["t"])?;
    /// assert_eq!(motion.eval_dual(&[2.0], 0), (8.0, 12.0));
    /// # Ok::<(), lilyan_scene::expression::ExpressionError>(())
    /// ```
    pub fn eval_dual(&self, values: &[f64], wrt: usize) -> (f64, f64) {
        let result = self.run(|index| operations::Dual {
            value: values.get(index).copied().unwrap_or(f64::NAN),
            slope: if index == wrt { 1.0 } else { 0.0 },
        });
        (result.value, result.slope)
    }

    /// The value, if the formula does not depend on any variable.
    pub fn constant(&self) -> Option<f64> {
        match self.program.as_slice() {
            [Op::Constant(value)] => Some(*value),
            _ => None,
        }
    }

    /// Whether variable number `index` occurs in the formula.
    pub fn depends_on(&self, index: usize) -> bool {
        self.program.iter().any(|op| matches!(op, Op::Variable(i) if usize::from(*i) == index))
    }

    /// The formula as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Names of the variables, in the order of their values.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    fn run<T: Scalar>(&self, variable: impl Fn(usize) -> T) -> T {
        if self.stack <= SMALL_STACK {
            operations::run::<T, SMALL_STACK>(&self.program, variable)
        } else {
            operations::run::<T, MAX_STACK>(&self.program, variable)
        }
    }
}

impl Formula for Expression {
    fn source(&self) -> &str {
        self.source()
    }
    fn eval_dual(&self, values: &[f64], wrt: usize) -> (f64, f64) {
        self.eval_dual(values, wrt)
    }
    fn depends_on(&self, index: usize) -> bool {
        self.depends_on(index)
    }
}

/// Formulas are equal when they are written alike over the same variables.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.variables == other.variables
    }
}

impl std::fmt::Display for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)
    }
}
