//! Parses TOML with a bound on the parser's memory.

use serde::de::DeserializeOwned;

/// Maximum size of a TOML text in bytes, not counting strings and comments. The parser needs about 100 times as much
/// memory.
const MOST_STRUCTURE: usize = 1 << 18;

/// Parses TOML of at most `MOST_STRUCTURE` bytes, not counting strings and comments. Errors contain the byte offset, if
/// known, and a message.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    if let Some(at) = structure_beyond(text.as_bytes(), MOST_STRUCTURE) {
        let what =
            format!("the text is too large: its keys and numbers may take up at most {MOST_STRUCTURE} bytes");
        return Err((Some(at), what));
    }
    ::toml::from_str(text).map_err(|error| (error.span().map(|span| span.start), error.message().to_owned()))
}

/// Returns the offset at which the number of bytes outside strings and comments exceeds `most`, or `None` if it never
/// does. Recognises strings as the parser does, even in invalid TOML.
fn structure_beyond(text: &[u8], most: usize) -> Option<usize> {
    // A quote within a word does not begin a string.
    let (mut at, mut structure, mut in_word) = (0, 0, false);
    while let Some(&byte) = text.get(at) {
        at += match byte {
            b'"' | b'\'' if !in_word => string_len(&text[at..]),
            b'#' => text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - at),
            _ => 1,
        };
        in_word = !b".=,[]{} \t#\r\n".contains(&byte) && (in_word || !b"\"'".contains(&byte));
        structure += 1;
        if structure > most {
            return Some(at);
        }
    }
    None
}

/// Returns the length of the string at the start of `text`, including its quotes. An unclosed string ends at the end of
/// the line; an unclosed multi-line string ends at the end of the file.
fn string_len(text: &[u8]) -> usize {
    let quote = text[0];
    let is_long = text.starts_with(&[quote; 3]);
    let closing = if is_long { &[quote; 3][..] } else { &[quote; 1][..] };
    let mut at = closing.len();
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'"' => {
                at += 1;
                at += usize::from(text.get(at).is_some_and(|next| b"\\\"".contains(next)));
            }
            b'\n' if !is_long => return at,
            _ if text[at..].starts_with(closing) => {
                at += closing.len();
                // A multi-line string may end with up to two quotes before the closing quotes.
                let more = text[at..].iter().take(2).take_while(|byte| is_long && **byte == quote);
                return at + more.count();
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_on_toml_structure_ignores_strings_and_comments() {
        for (text, structure) in [
            ("a = 1\n", 6),
            ("a='#\"\\'#x\"\n", 5),
            ("a=\"\\\"#\\\\\"b", 4),
            ("a=\"\"\"x\n\"y\"\\\"\"\"\"\nb", 5),
            ("a='''x\n'y'''\nb", 5),
            ("a=\"\nb", 5),
            ("a\"[[\n", 5),
            ("a=\"\"\"x\"\"\"\"\"b", 4),
            ("a=\"\"\"\nb\n", 3),
            ("# \"\n'", 3),
            ("", 0),
        ] {
            assert_eq!(structure_beyond(text.as_bytes(), structure), None, "{text:?}");
            if structure > 0 {
                assert!(structure_beyond(text.as_bytes(), structure - 1).is_some(), "{text:?}");
            }
        }
        let long = format!("a = '''{}'''\n", "\n=".repeat(MOST_STRUCTURE));
        assert!(from_toml::<::toml::Table>(&long).is_ok());
        let many = "[a]\n".repeat(MOST_STRUCTURE);
        assert!(from_toml::<::toml::Table>(&many).unwrap_err().1.contains("keys and numbers may take up"));
    }
}
