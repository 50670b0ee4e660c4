//! Syntax highlighting of OpenCL C source code.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, TextStyle};
use egui_code_editor::{Syntax, Token, TokenType};

use super::theme;

/// Minimum height of a view of source code, in points.
const LEAST_HEIGHT: f32 = 160.0;
/// Height of the margins and of the line of text below a view of source code, in points.
const FOOTER_HEIGHT: f32 = 36.0;
const KEYWORDS: &[&str] = &[
    "break",
    "case",
    "const",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "for",
    "goto",
    "if",
    "inline",
    "return",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "volatile",
    "while",
    "restrict",
    "kernel",
    "__kernel",
    "global",
    "__global",
    "local",
    "__local",
    "constant",
    "__constant",
    "private",
    "__private",
    "__attribute__",
    "__asm__",
];
/// Names of preprocessor directives, except those that are also keywords (see [`KEYWORDS`]).
const DIRECTIVES: &[&str] = &[
    "define", "defined", "elif", "endif", "ifdef", "ifndef", "include", "line", "pragma", "undef", "unroll",
];

/// Returns an array of the names of scalar types and of their vector types.
macro_rules! types {
    ($($scalar:literal)+) => {
        [$($scalar, concat!($scalar, "2"), concat!($scalar, "3"), concat!($scalar, "4"), concat!($scalar, "8"),
            concat!($scalar, "16")),+]
    };
}

static SYNTAX: LazyLock<Syntax> = LazyLock::new(|| {
    let types = types!["char" "uchar" "short" "ushort" "int" "uint" "long" "ulong" "float" "double" "half"];
    Syntax {
        language: "OpenCL C",
        case_sensitive: true,
        comment: "//",
        comment_multiline: ["/*", "*/"],
        quotes: ['"', '\''].into(),
        hyperlinks: BTreeSet::new(),
        keywords: KEYWORDS.iter().copied().collect(),
        types: types.into_iter().chain(["void", "bool", "size_t", "unsigned", "signed"]).collect(),
        special: DIRECTIVES.iter().copied().collect(),
    }
});

/// Returns `code` with syntax highlighting, as text that is not wrapped. Replaces the names of the macros in `values`
/// with their values, on a coloured background.
pub(super) fn highlighted(ui: &egui::Ui, code: &str, values: &[(&'static str, String)]) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = f32::INFINITY;
    let colours = theme::of(ui);
    let format = TextFormat::simple(TextStyle::Monospace.resolve(ui.style()), colours.text);
    for token in Token::default().tokens(&SYNTAX, code) {
        let value = values.iter().find(|(name, _)| *name == token.buffer()).map(|(_, value)| value);
        match value.filter(|_| !matches!(token.ty(), TokenType::Comment(_) | TokenType::Str(_))) {
            Some(value) => {
                let (color, background) = (colours.strong, colours.accent_fill);
                job.append(value, 0.0, TextFormat { color, background, ..format.clone() });
            }
            None => {
                let color = colour(colours, token.ty());
                job.append(token.buffer(), 0.0, TextFormat { color, ..format.clone() });
            }
        }
    }
    job
}

fn colour(colours: &theme::Colours, token: TokenType) -> Color32 {
    match token {
        TokenType::Comment(_) => colours.weak,
        TokenType::Keyword => colours.accent,
        TokenType::Type => colours.line_of(2),
        TokenType::Special => colours.line_of(4),
        TokenType::Numeric(_) | TokenType::Str(_) => colours.line_of(1),
        TokenType::Function => colours.strong,
        _ => colours.text,
    }
}

/// Returns the height, in points, of a view of source code that fills the rest of the window.
pub(super) fn code_height(ui: &egui::Ui) -> f32 {
    (ui.available_height() - FOOTER_HEIGHT).max(LEAST_HEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opencl_c_tokens_are_classified() {
        let code = "__kernel void sum(__global const float4 *x) // for all\n#pragma unroll\nfor (uint k = 0;;) { y += 0x7fu + 1e-5f; }";
        let tokens = Token::default().tokens(&SYNTAX, code);
        let kind = |text: &str| {
            tokens
                .iter()
                .find(|token| token.buffer() == text)
                .unwrap_or_else(|| panic!("{text}: {tokens:?}"))
                .ty()
        };
        for keyword in ["__kernel", "__global", "const", "for"] {
            assert_eq!(kind(keyword), TokenType::Keyword, "{keyword}");
        }
        for name in ["void", "float4", "uint"] {
            assert_eq!(kind(name), TokenType::Type, "{name}");
        }
        assert_eq!(kind("sum"), TokenType::Function);
        assert_eq!(kind("// for all"), TokenType::Comment(false));
        assert_eq!(kind("pragma"), TokenType::Special);
        let whole: String = tokens.iter().map(Token::buffer).collect();
        assert_eq!(whole, code);
    }

    #[test]
    fn highlighting_leaves_the_text_of_every_kernel_unchanged() {
        for (name, text) in crate::engine::kernel_lab::own() {
            let whole: String = Token::default().tokens(&SYNTAX, text).iter().map(Token::buffer).collect();
            assert_eq!(whole, text, "{name}");
        }
    }

    #[test]
    fn macro_values_replace_names_in_code_but_not_in_comments() {
        egui::__run_test_ui(|ui| {
            let values = [("K", "4".to_owned())];
            let job = highlighted(ui, "a[K] = KK; // K bodies", &values);
            assert_eq!(job.text, "a[4] = KK; // K bodies");
        });
    }
}
