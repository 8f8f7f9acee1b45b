//! From text to postfix program, by precedence climbing.

use super::operations::{BINARY, Binary, Op, TERNARY, Ternary, UNARY, Unary};
use super::{ExpressionError, MAX_DEPTH, MAX_LENGTH, MAX_STACK};
use crate::suggest;

const CONSTANTS: &[(&str, f64)] = &[("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'s> {
    Number(f64),
    Name(&'s str),
    Symbol(&'static str),
    End,
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: &[&str] = &[
    "<=", ">=", "==", "!=", "&&", "||", "**", "+", "-", "*", "/", "^", "<", ">", "!", "?", ":", "(", ")",
    ",", "=", "&", "|", "%",
];

/// Operators of two operands: how tightly they bind, and what they do. `^` is handled apart.
fn infix(symbol: &str) -> Option<(u8, Binary)> {
    Some(match symbol {
        "||" => (1, Binary::Or),
        "&&" => (2, Binary::And),
        "==" => (3, Binary::Equal),
        "!=" => (3, Binary::Unequal),
        "<" => (3, Binary::Less),
        "<=" => (3, Binary::LessEqual),
        ">" => (3, Binary::Greater),
        ">=" => (3, Binary::GreaterEqual),
        "+" => (4, Binary::Add),
        "-" => (4, Binary::Subtract),
        "*" => (5, Binary::Multiply),
        "/" => (5, Binary::Divide),
        _ => return None,
    })
}

const COMPARISON: u8 = 3;

/// The program and the number of pending operands that it needs.
pub(super) fn compile(source: &str, variables: &[&str]) -> Result<(Vec<Op>, usize), ExpressionError> {
    if source.len() > MAX_LENGTH {
        return Err(ExpressionError {
            column: 1,
            message: format!(
                "the formula has {} bytes, more than {MAX_LENGTH}; give such data per cell in a mesh file instead",
                source.len()
            ),
        });
    }
    let mut parser =
        Parser { source, variables, start: 0, next: 0, token: Token::End, depth: 0, program: Vec::new() };
    parser.advance()?;
    if parser.token == Token::End {
        return Err(parser.error("the formula is empty; write a number, for example 0"));
    }
    parser.expression()?;
    if parser.token != Token::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    let stack = pending(&parser.program);
    if stack > MAX_STACK {
        return Err(parser.error("the formula holds too many unfinished operations; nest it less"));
    }
    Ok((parser.program, stack))
}

/// Largest number of operands that wait at any time.
fn pending(program: &[Op]) -> usize {
    let (mut now, mut most) = (0usize, 0usize);
    for op in program {
        now = match op {
            Op::Constant(_) | Op::Variable(_) => now + 1,
            Op::One(_) => now,
            Op::Two(_) => now.saturating_sub(1),
            Op::Three(_) => now.saturating_sub(2),
        };
        most = most.max(now);
    }
    most
}

struct Parser<'s, 'v> {
    source: &'s str,
    variables: &'v [&'v str],
    /// Bytes at which the current token starts, and at which the next is looked for.
    start: usize,
    next: usize,
    token: Token<'s>,
    depth: usize,
    program: Vec<Op>,
}

impl<'s> Parser<'s, '_> {
    fn error(&self, message: impl Into<String>) -> ExpressionError {
        self.error_at(self.start, message)
    }

    fn error_at(&self, byte: usize, message: impl Into<String>) -> ExpressionError {
        let before = self.source.get(..byte).unwrap_or(self.source);
        ExpressionError { column: before.chars().count() + 1, message: message.into() }
    }

    fn unexpected(&self, wanted: &str) -> ExpressionError {
        let found = match self.token {
            Token::Number(_) | Token::Name(_) => {
                let text = self.source.get(self.start..self.next).unwrap_or_default();
                format!("{} (write * to multiply)", suggest::quoted(text))
            }
            Token::Symbol("=") => "= (write == to compare)".to_owned(),
            Token::Symbol("&") => "& (write && for \"and\")".to_owned(),
            Token::Symbol("|") => "| (write || for \"or\")".to_owned(),
            Token::Symbol("%") => "% (write mod(a, b) for the remainder)".to_owned(),
            Token::Symbol("**") => "** (write ^ for powers)".to_owned(),
            Token::Symbol(symbol) => symbol.to_owned(),
            Token::End => "the end".to_owned(),
        };
        self.error(format!("expected {wanted}, found {found}"))
    }

    fn advance(&mut self) -> Result<(), ExpressionError> {
        let rest = self.source.get(self.next..).unwrap_or_default();
        let text = rest.trim_start();
        self.start = self.next + (rest.len() - text.len());
        let (token, length) = match text.chars().next() {
            None => (Token::End, 0),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(text)?,
            Some(c) if c.is_alphabetic() || c == '_' => {
                let length = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
                (Token::Name(text.get(..length).unwrap_or_default()), length)
            }
            Some(c) => match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
                Some(symbol) => (Token::Symbol(symbol), symbol.len()),
                None => {
                    return Err(self.error(format!("{c:?} has no meaning in a formula")));
                }
            },
        };
        self.token = token;
        self.next = self.start + length;
        Ok(())
    }

    fn number(&self, text: &'s str) -> Result<(Token<'s>, usize), ExpressionError> {
        let bytes = text.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
        let mut length = digits(0);
        if bytes.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        // An exponent only if digits follow: in `2e` the e is the constant.
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let literal = text.get(..length).unwrap_or_default();
        match literal.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
            Ok(_) => Err(self.error(format!("{} is too large", suggest::quoted(literal)))),
            Err(_) => Err(self.error(format!("{} is not a number", suggest::quoted(literal)))),
        }
    }

    fn take(&mut self, symbol: &'static str) -> Result<bool, ExpressionError> {
        let found = self.token == Token::Symbol(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn deeper(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!(
                "nested more than {MAX_DEPTH} deep; simplify the formula or give the data in a mesh file"
            )));
        }
        Ok(())
    }

    /// `condition ? yes : no`, or anything that binds tighter.
    fn expression(&mut self) -> Result<(), ExpressionError> {
        self.deeper()?;
        self.infix_chain(0)?;
        if self.take("?")? {
            self.expression()?;
            if !self.take(":")? {
                return Err(self.unexpected("\":\" of \"condition ? yes : no\""));
            }
            self.expression()?;
            self.emit_three(Ternary::Select);
        }
        self.depth -= 1;
        Ok(())
    }

    fn infix_chain(&mut self, weakest: u8) -> Result<(), ExpressionError> {
        self.prefix()?;
        let mut compared = false;
        while let Token::Symbol(symbol) = self.token {
            let Some((strength, op)) = infix(symbol) else {
                break;
            };
            if strength < weakest {
                break;
            }
            if strength == COMPARISON {
                if compared {
                    return Err(
                        self.error("comparisons do not chain; write a < b && b < c, or use parentheses")
                    );
                }
                compared = true;
            } else {
                compared = false;
            }
            self.advance()?;
            self.infix_chain(strength + 1)?;
            self.emit_two(op);
        }
        Ok(())
    }

    fn prefix(&mut self) -> Result<(), ExpressionError> {
        let op = match self.token {
            Token::Symbol("-") => Some(Unary::Negate),
            Token::Symbol("!") => Some(Unary::Not),
            Token::Symbol("+") => None,
            _ => return self.power(),
        };
        self.deeper()?;
        self.advance()?;
        self.prefix()?;
        if let Some(op) = op {
            self.emit_one(op);
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Result<(), ExpressionError> {
        self.atom()?;
        if self.take("^")? {
            self.deeper()?;
            self.prefix()?;
            self.depth -= 1;
            self.emit_two(Binary::Power);
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), ExpressionError> {
        match self.token {
            Token::Number(value) => {
                self.program.push(Op::Constant(value));
                self.advance()
            }
            Token::Symbol("(") => {
                self.advance()?;
                self.expression()?;
                if !self.take(")")? {
                    return Err(self.unexpected("an operator or \")\""));
                }
                Ok(())
            }
            Token::Name(name) => {
                let start = self.start;
                self.advance()?;
                if self.take("(")? { self.call(name, start) } else { self.name(name, start) }
            }
            _ => Err(self.unexpected("a number, a name or \"(\"")),
        }
    }

    fn name(&mut self, name: &str, start: usize) -> Result<(), ExpressionError> {
        if let Some(index) = self.variables.iter().position(|v| *v == name) {
            self.program.push(Op::Variable(u16::try_from(index).unwrap_or(u16::MAX)));
            return Ok(());
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(n, _)| *n == name) {
            self.program.push(Op::Constant(*value));
            return Ok(());
        }
        let message = if function_names().any(|f| f == name) {
            format!("{name} is a function; write {name}(…)")
        } else {
            let known = || self.variables.iter().copied().chain(CONSTANTS.iter().map(|c| c.0));
            let list: Vec<&str> = known().collect();
            format!(
                "unknown name {}{}known here: {}",
                suggest::quoted(name),
                suggest::did_you_mean(name, known()),
                list.join(", ")
            )
        };
        Err(self.error_at(start, message))
    }

    fn call(&mut self, name: &str, start: usize) -> Result<(), ExpressionError> {
        fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
            table.iter().find(|(n, _)| *n == name).map(|(_, op)| *op)
        }
        let (one, two, three) = (find(UNARY, name), find(BINARY, name), find(TERNARY, name));
        if one.is_none() && two.is_none() && three.is_none() {
            let message = if self.variables.contains(&name) {
                format!("{name} is not a function (write {name}*(…) to multiply)")
            } else {
                format!(
                    "unknown function {}{}known: {}",
                    suggest::quoted(name),
                    suggest::did_you_mean(name, function_names()),
                    function_list()
                )
            };
            return Err(self.error_at(start, message));
        }
        let folds = matches!(two, Some(Binary::Min | Binary::Max));
        let mut count = 0;
        if self.token != Token::Symbol(")") {
            loop {
                self.expression()?;
                count += 1;
                // Fold as they come, so that a long list needs no stack.
                if let (true, Some(op), true) = (folds, two, count > 1) {
                    self.emit_two(op);
                }
                if !self.take(",")? {
                    break;
                }
            }
        }
        if !self.take(")")? {
            return Err(self.unexpected("\",\" or \")\""));
        }
        match (count, one, two, three) {
            (1, Some(op), _, _) => self.emit_one(op),
            (2, _, Some(op), _) if !folds => self.emit_two(op),
            (3, _, _, Some(op)) => self.emit_three(op),
            (2.., _, _, _) if folds => {}
            _ => {
                let wants = match (one, two, three) {
                    (Some(_), Some(_), _) => "1 or 2 arguments",
                    (Some(_), _, _) => "1 argument",
                    _ if folds => "2 or more arguments",
                    (_, Some(_), _) => "2 arguments",
                    _ => "3 arguments",
                };
                return Err(self.error_at(start, format!("{name} takes {wants}, not {count}")));
            }
        }
        Ok(())
    }

    // Constants are folded as the program grows: if the last operand is a lone constant, so is what it
    // stands for.

    fn emit_one(&mut self, op: Unary) {
        if let Some(Op::Constant(x)) = self.program.last_mut() {
            *x = op.value(*x);
        } else {
            self.program.push(Op::One(op));
        }
    }

    fn emit_two(&mut self, op: Binary) {
        if let [.., Op::Constant(a), Op::Constant(b)] = *self.program {
            let kept = self.program.len() - 2;
            self.program.truncate(kept);
            self.program.push(Op::Constant(op.value(a, b)));
        } else {
            self.program.push(Op::Two(op));
        }
    }

    fn emit_three(&mut self, op: Ternary) {
        if let [.., Op::Constant(a), Op::Constant(b), Op::Constant(c)] = *self.program {
            let kept = self.program.len() - 3;
            self.program.truncate(kept);
            self.program.push(Op::Constant(op.value(a, b, c)));
        } else {
            self.program.push(Op::Three(op));
        }
    }
}

fn function_names() -> impl Iterator<Item = &'static str> {
    let names = UNARY.iter().map(|f| f.0);
    names.chain(BINARY.iter().map(|f| f.0)).chain(TERNARY.iter().map(|f| f.0))
}

fn function_list() -> String {
    let mut names: Vec<&str> = function_names().collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}
