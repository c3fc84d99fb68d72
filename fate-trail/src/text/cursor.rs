//! A reading position in a text, with the few questions that both forms of trail text ask.

/// What separates two things in a trail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Separator {
    /// ` | `, ` → `, ` -> `: another entry follows.
    Next,
    /// ` || `, ` ⇒ `, ` => `: the verdict follows.
    Verdict,
    /// ` <- reply#k `, ` ↩ reply#k: `: the stages of a reply follow.
    Reply(u32),
}

/// A text and a byte offset in it, always at a character boundary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) pos: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, pos: usize) -> Self {
        Cursor { text, pos }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes a literal.
    pub(crate) fn eat(&mut self, literal: &str) -> bool {
        steps::add(1);
        let found = self.rest().starts_with(literal);
        if found {
            self.pos += literal.len();
        }
        found
    }

    /// Takes the longest run of characters of a kind; it may be empty.
    pub(crate) fn run(&mut self, kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !kind(c)).unwrap_or(rest.len());
        steps::add(len + 1);
        self.pos += len;
        &rest[..len]
    }

    /// Takes spaces and tabs; true if there was one.
    pub(crate) fn blanks(&mut self) -> bool {
        !self.run(is_blank).is_empty()
    }

    /// Takes `(+1.234)`, `(+12ms)`, `(+1.5s)` or `(+?)`. The inner option is the offset in
    /// microseconds.
    pub(crate) fn offset(&mut self) -> Option<Option<u64>> {
        let mut at = *self;
        if !at.eat("(+") {
            return None;
        }
        let micros = if at.eat("?") {
            None
        } else {
            let whole = at.run(|c| c.is_ascii_digit());
            let fraction = if at.eat(".") { at.run(|c| c.is_ascii_digit()) } else { "" };
            if whole.is_empty() {
                return None;
            }
            let scale = match at.run(|c| matches!(c, 'm' | 's' | 'u' | 'µ' | 'μ')) {
                "" | "ms" => 1_000,
                "s" => 1_000_000,
                "us" | "µs" | "μs" => 1,
                _ => return None,
            };
            Some(scaled(whole, fraction, scale))
        };
        at.eat(")").then(|| {
            *self = at;
            micros
        })
    }

    /// Takes a separator with the blanks around it.
    pub(crate) fn separator(&mut self) -> Option<Separator> {
        let mut at = *self;
        if !at.blanks() {
            return None;
        }
        let found = at.bare_separator()?;
        // A separator at the end of the text is followed by nothing.
        if !at.blanks() && at.peek().is_some() {
            return None;
        }
        *self = at;
        Some(found)
    }

    /// Takes a separator that starts right here.
    fn bare_separator(&mut self) -> Option<Separator> {
        const MARKS: [(&str, Option<Separator>); 8] = [
            ("||", Some(Separator::Verdict)),
            ("|", Some(Separator::Next)),
            ("→", Some(Separator::Next)),
            ("->", Some(Separator::Next)),
            ("⇒", Some(Separator::Verdict)),
            ("=>", Some(Separator::Verdict)),
            ("<-", None),
            ("↩", None),
        ];
        let (_, separator) = MARKS.iter().find(|(mark, _)| self.eat(mark))?;
        if separator.is_some() {
            return *separator;
        }
        self.blanks();
        if !self.eat("reply#") {
            return None;
        }
        let number = self.run(|c| c.is_ascii_digit()).parse().ok()?;
        self.eat(":");
        Some(Separator::Reply(number))
    }
}

/// Decimal digits times a scale, cut to whole microseconds, saturating.
fn scaled(whole: &str, fraction: &str, scale: u64) -> u64 {
    let whole = whole.parse().unwrap_or(u64::MAX).saturating_mul(scale);
    let mut unit = scale;
    let mut part = 0;
    for digit in fraction.bytes().take(6) {
        unit /= 10;
        part += unit * u64::from(digit - b'0');
    }
    whole.saturating_add(part)
}

pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}')
}

/// Characters of ids, tokens, hubs and keys. Beyond the grammar's plain ASCII the reader takes any
/// character that neither the grammar nor a report around it uses.
pub(crate) fn is_name(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(
            c,
            '(' | ')' | '@' | '=' | '|' | ',' | '"' | '\'' | '&' | '\\' | '<' | '>' | '→' | '⇒' | '↩'
        )
}

/// Characters of an encoded value.
pub(crate) fn is_value(c: char) -> bool {
    is_name(c) || c == ','
}

/// True where a text ends for good: a line break, or the end of the string or element around it.
pub(crate) fn is_hard_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '"' | '<' | '\0')
}

/// Counts the bytes that reading looks at, so that a test can hold it to linear time without a
/// clock. Costs nothing outside of tests.
pub(crate) mod steps {
    #[cfg(test)]
    thread_local! {
        static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[cfg(test)]
    pub(crate) fn add(steps: usize) {
        STEPS.set(STEPS.get() + steps);
    }

    #[cfg(test)]
    pub(crate) fn take() -> usize {
        STEPS.take()
    }

    #[cfg(not(test))]
    #[inline(always)]
    pub(crate) fn add(_: usize) {}
}
