//! Determines which lines of a kernel are compiled, by evaluating `#if`, `#ifdef` and similar directives with the
//! macros of a program.

use std::collections::BTreeMap;

/// Macros that are defined at the current line of a program.
#[derive(Debug, Default)]
pub(super) struct Macros {
    /// Value of each macro; `None` if the macro is defined in a branch that depends on the compiler.
    values: BTreeMap<String, Option<String>>,
}

/// Result of a condition: true, false, or `None` if it depends on macros that only the compiler knows.
type Truth = Option<bool>;

/// State of a conditional group of lines, from an `#if` to its `#endif`.
struct Group {
    /// Whether the line before the `#if` is compiled; `None` if this depends on the compiler.
    outer: Truth,
    /// Whether one of the branches so far is compiled; `None` if this depends on the compiler.
    is_done: Truth,
    /// Whether the condition of a branch depends on macros that only the compiler knows. If so, the directives of the
    /// group are shown.
    is_undecided: bool,
    /// Indices, from 0, of the lines with directives to show if `is_undecided` is true.
    directives: Vec<usize>,
}

impl Macros {
    /// Creates the macros from the definitions that the host passes to the compiler.
    pub(super) fn new(defines: &[(&'static str, String)]) -> Self {
        let values = defines.iter().map(|(name, value)| ((*name).to_owned(), Some(value.clone())));
        Self { values: values.collect() }
    }

    /// Returns for each line of `text` whether it is compiled. Branches that depend on the compiler count as compiled,
    /// and so do their directives; other directives do not. Adds the macros that `text` defines.
    pub(super) fn compiled_lines(&mut self, text: &str) -> Vec<bool> {
        let mut shown = Vec::new();
        let (mut groups, mut now): (Vec<Group>, Truth) = (Vec::new(), Some(true));
        for (at, line) in text.lines().enumerate() {
            shown.push(now != Some(false));
            let Some((directive, rest)) = directive(line) else { continue };
            match directive {
                "if" | "ifdef" | "ifndef" => {
                    let truth = match directive {
                        "if" => self.truth_of(rest),
                        "ifdef" => self.is_defined(rest),
                        _ => not(self.is_defined(rest)),
                    };
                    let is_undecided = now != Some(false) && truth.is_none();
                    groups.push(Group { outer: now, is_done: truth, is_undecided, directives: vec![at] });
                    now = and(now, truth);
                }
                "elif" | "else" => {
                    let Some(group) = groups.last_mut() else { continue };
                    let own = if directive == "else" { Some(true) } else { self.truth_of(rest) };
                    let truth = and(not(group.is_done), own);
                    group.is_undecided |= group.outer != Some(false) && truth.is_none();
                    if truth != Some(false) {
                        group.directives.push(at);
                    }
                    group.is_done = not(and(not(group.is_done), not(own)));
                    now = and(group.outer, truth);
                }
                "endif" => {
                    let Some(group) = groups.pop() else { continue };
                    now = group.outer;
                    group.directives.iter().for_each(|&line| shown[line] = group.is_undecided);
                    shown[at] = group.is_undecided;
                    continue;
                }
                "define" if now != Some(false) => self.define(rest, now),
                "undef" if now != Some(false) => drop(self.values.remove(rest.trim())),
                _ => {}
            }
            if ["if", "ifdef", "ifndef", "elif", "else"].contains(&directive) {
                shown[at] = false;
            }
        }
        shown
    }

    /// Defines the macro of the directive `#define rest`. `now` says whether the directive is compiled. Unless `now` is
    /// `Some(true)`, the macro's value is unknown.
    fn define(&mut self, rest: &str, now: Truth) {
        let end = rest.find(|c: char| !is_part_of_name(c)).unwrap_or(rest.len());
        let value = (now == Some(true)).then(|| rest[end..].trim().to_owned());
        self.values.insert(rest[..end].to_owned(), value);
    }

    fn is_defined(&self, name: &str) -> Truth {
        let name = name.trim();
        match self.values.get(name) {
            Some(value) => value.is_some().then_some(true),
            // Names that are reserved for the compiler and its extensions.
            None if name.starts_with("__") || name.starts_with("cl_") => None,
            None => Some(false),
        }
    }

    fn truth_of(&self, expression: &str) -> Truth {
        self.value_of(expression, 0).map(|value| value != 0)
    }

    /// Returns the value of an expression, or `None` if the value is unknown. `depth` counts the macros that were
    /// expanded on the way to the expression.
    fn value_of(&self, expression: &str, depth: usize) -> Option<i64> {
        /// Maximum depth of nested macros. Stops the expansion of a macro that contains itself.
        const MOST: usize = 16;
        let tokens = tokens(expression);
        let mut parser = Parser { macros: self, tokens: &tokens, depth };
        (depth < MOST).then(|| parser.binary(0)).flatten().filter(|_| parser.tokens.is_empty())
    }
}

/// Parser that evaluates the expression of an `#if` directive.
struct Parser<'a> {
    macros: &'a Macros,
    /// Tokens of the expression that have not been parsed yet.
    tokens: &'a [&'a str],
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Evaluates a chain of binary operators that bind at least as strongly as those of level `least`.
    fn binary(&mut self, least: usize) -> Option<i64> {
        const LEVELS: [&[&str]; 6] =
            [&["||"], &["&&"], &["==", "!="], &["<", "<=", ">", ">="], &["+", "-"], &["*", "/", "%"]];
        let Some(operators) = LEVELS.get(least) else { return self.unary() };
        let mut left = self.binary(least + 1);
        while let Some(&operator) = self.tokens.first().filter(|token| operators.contains(token)) {
            self.next();
            let right = self.binary(least + 1);
            left = apply(operator, left, right);
        }
        left
    }

    fn unary(&mut self) -> Option<i64> {
        match self.next()? {
            "!" => self.unary().map(|value| i64::from(value == 0)),
            "-" => self.unary().map(i64::wrapping_neg),
            "(" => {
                let value = self.binary(0);
                self.next().filter(|token| *token == ")").and(value)
            }
            "defined" => {
                let name = match self.next()? {
                    "(" => {
                        let name = self.next()?;
                        self.next()?;
                        name
                    }
                    name => name,
                };
                self.macros.is_defined(name).map(i64::from)
            }
            number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                number.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
            }
            name => match self.macros.values.get(name) {
                Some(value) => self.macros.value_of(value.as_ref()?, self.depth + 1),
                // The preprocessor treats undefined names as 0.
                None => self.macros.is_defined(name).map(|_| 0),
            },
        }
    }
}

/// Applies a binary operator to two values; `None` stands for an unknown value.
fn apply(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    let truth = |value: Option<i64>| value.map(|value| value != 0);
    match operator {
        "||" => return not(and(not(truth(left)), not(truth(right)))).map(i64::from),
        "&&" => return and(truth(left), truth(right)).map(i64::from),
        _ => {}
    }
    let (left, right) = (left?, right?);
    match operator {
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<" => Some(i64::from(left < right)),
        "<=" => Some(i64::from(left <= right)),
        ">" => Some(i64::from(left > right)),
        ">=" => Some(i64::from(left >= right)),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    }
}

fn and(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(a: Truth) -> Truth {
    a.map(|a| !a)
}

/// Splits a preprocessor directive into its name and the rest of the line, without a comment. Returns `None` for other
/// lines.
fn directive(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start().strip_prefix('#')?.trim_start();
    let line = line.split("//").next()?;
    let end = line.find(|c: char| !is_part_of_name(c)).unwrap_or(line.len());
    Some((&line[..end], line[end..].trim()))
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Splits an expression into names, numbers and operators.
fn tokens(expression: &str) -> Vec<&str> {
    let mut rest = expression.trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if is_part_of_name(c) => rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len()),
            _ if ["||", "&&", "==", "!=", "<=", ">="].iter().any(|two| rest.starts_with(two)) => 2,
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(defines: &[(&'static str, &str)], text: &str) -> Vec<String> {
        let defines: Vec<_> = defines.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let shown = Macros::new(&defines).compiled_lines(text);
        text.lines().zip(shown).filter(|(_, is_shown)| *is_shown).map(|(line, _)| line.to_owned()).collect()
    }

    #[test]
    fn conditional_branches_are_selected_by_macro_values() {
        let text =
            "#if LANES == 16\nwide\n#elif LANES > 1 && !defined(SLOW)\nnarrow\n#else\none\n#endif\nend";
        assert_eq!(compiled(&[("LANES", "16")], text), ["wide", "end"]);
        assert_eq!(compiled(&[("LANES", "8")], text), ["narrow", "end"]);
        assert_eq!(compiled(&[("LANES", "8"), ("SLOW", "1")], text), ["one", "end"]);
        assert_eq!(compiled(&[], text), ["one", "end"]);
    }

    #[test]
    fn macros_defined_in_the_file_and_nested_macros_are_evaluated() {
        let text = "#ifndef K\n#define K 3 // three\n#endif\n#define ALL (2 * (K + 1))\n#if ALL - 1 >= 7\nyes\n#endif\n#undef K\n#ifdef K\nno\n#endif";
        assert_eq!(
            compiled(&[], text),
            ["#define K 3 // three", "#define ALL (2 * (K + 1))", "yes", "#undef K"]
        );
        assert_eq!(compiled(&[("K", "2")], text), ["#define ALL (2 * (K + 1))", "#undef K"]);
        assert!(compiled(&[], "#define A B\n#define B A\n#if A\nx\n#endif").contains(&"x".to_owned()));
    }

    #[test]
    fn branches_that_depend_on_compiler_macros_are_kept() {
        let text = "#if W == 16 && defined(__AVX__)\n#define FAST\n#elif W == 8 && defined(__AVX__)\n#define FAST\n#endif\n#ifdef FAST\nquick\n#else\nslow\n#endif";
        let lines: Vec<&str> = text.lines().collect();
        let branch = ["#if W == 16 && defined(__AVX__)", "#define FAST", "#endif"];
        assert_eq!(compiled(&[("W", "16")], text), [&branch[..], &lines[5..]].concat());
        assert_eq!(compiled(&[("W", "4")], text), ["slow"]);
    }
}
