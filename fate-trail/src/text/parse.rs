//! The reader: from a position in a text to a trail and its end.

use super::cursor::{Cursor, Separator, is_blank, is_hard_end, is_name, is_value};
use super::error::{ParseError, ParseErrorKind};
use super::unescape::unescape;
use super::value::Value;
use super::{Form, dialect, escape};
use crate::limits::TRAIL_BYTES;
use crate::trail::{Gap, Reply, Stage, Trail};

/// Reads a text that is one trail and nothing else, apart from blanks around it.
///
/// Both forms are taken, also XML- or JSON-escaped.
///
/// # Errors
/// Where the text is not exactly one trail, or longer than [`TRAIL_BYTES`].
pub fn parse(line: &str) -> Result<Trail, ParseError> {
    let text = unescape(line);
    let start = text.len() - text.trim_start().len();
    if text.trim().len() > TRAIL_BYTES {
        return Err(ParseError::new(ParseErrorKind::TooLong, start));
    }
    let at = Cursor::new(&text, start);
    let parsed = match headed(at) {
        Err(error) if error.kind() == ParseErrorKind::NoStart => dialect::trail(at).ok_or(error)?,
        other => other?,
    };
    let rest = &text[parsed.end..];
    if rest.trim().is_empty() {
        Ok(parsed.trail)
    } else {
        let at = text.len() - rest.trim_start().len();
        Err(ParseError::new(ParseErrorKind::TrailingText, at))
    }
}

/// A trail and where it ended.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) trail: Trail,
    pub(crate) end: usize,
    pub(crate) form: Form,
}

/// The stages and the gap of a trail or of a reply.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) stages: Vec<Stage>,
    pub(crate) gap: Option<Gap>,
}

/// One thing between two separators.
pub(crate) enum Entry {
    Stage(Stage),
    Gap(u64),
}

/// Reads `fate <id> [at=<time>] …`.
pub(crate) fn headed(mut at: Cursor<'_>) -> Result<Parsed, ParseError> {
    let no_start = ParseError::new(ParseErrorKind::NoStart, at.pos);
    if !(at.eat("fate") && at.blanks()) {
        return Err(no_start);
    }
    let id = at.run(is_name);
    if id.is_empty() || !at.blanks() {
        return Err(no_start);
    }
    let mut trail = Trail::new(escape::word(id));
    if at.eat("at=") {
        // A time that cannot be read is left out; the stages are worth more.
        trail.at = crate::time::parse(at.run(|c| !c.is_whitespace()));
        at.blanks();
    }
    let first = at.pos;
    finish(at, trail, Form::Canonical).ok_or_else(|| ParseError::new(ParseErrorKind::NoStage, first))
}

/// Reads the stages, replies and verdict behind a head; `None` where no stage stands here.
pub(crate) fn finish(mut at: Cursor<'_>, mut trail: Trail, form: Form) -> Option<Parsed> {
    let (main, mut ended) = body(&mut at, form)?;
    trail.stages = main.stages;
    trail.gap = main.gap;
    let mut end = at.pos;
    while let Some(separator) = ended {
        match separator {
            Separator::Reply(number) => {
                let Some((reply, next)) = body(&mut at, Form::Canonical) else {
                    break;
                };
                trail.replies.push(Reply { number, stages: reply.stages, gap: reply.gap });
                ended = next;
            }
            Separator::Verdict => {
                let text = verdict(&mut at);
                trail.verdict.get_or_insert_with(|| escape::word(text).into_owned());
                // The original writes its replies behind the verdict.
                let mut ahead = at;
                ended = ahead.separator().filter(|s| matches!(s, Separator::Reply(_)));
                if ended.is_some() {
                    end = at.pos;
                    at = ahead;
                    continue;
                }
            }
            Separator::Next => break,
        }
        end = at.pos;
        if ended.is_some() {
            continue;
        }
        break;
    }
    Some(Parsed { trail, end, form })
}

/// Reads entries up to something that is none. The separator that ended them is taken, so that the
/// caller goes on behind it; `None` where nothing of the trail follows.
fn body(at: &mut Cursor<'_>, form: Form) -> Option<(Body, Option<Separator>)> {
    let mut body = Body::default();
    let mut first = true;
    loop {
        let headless = first && form == Form::Dialect;
        match entry(at, headless)? {
            Entry::Stage(stage) => body.stages.push(stage),
            Entry::Gap(0) => {}
            Entry::Gap(count) => {
                let after = body.stages.len();
                let gap = body.gap.get_or_insert(Gap { after, count: 0 });
                gap.count = gap.count.saturating_add(count);
            }
        }
        first = false;
        let here = *at;
        match at.separator() {
            Some(Separator::Next) => {
                let mut ahead = *at;
                if entry(&mut ahead, false).is_none() {
                    *at = here;
                    return Some((body, None));
                }
            }
            other => return Some((body, other)),
        }
    }
}

/// Reads one entry in either form.
fn entry(at: &mut Cursor<'_>, headless: bool) -> Option<Entry> {
    if let Some(count) = gap(at) {
        return Some(Entry::Gap(count));
    }
    stage(at).or_else(|| dialect::stage(at, headless)).map(Entry::Stage)
}

/// Reads `gap=7`, or the `…` with which a text shows that something is missing.
fn gap(at: &mut Cursor<'_>) -> Option<u64> {
    let mut ahead = *at;
    let count = if ahead.eat("gap=") {
        let digits = ahead.run(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return None;
        }
        digits.parse().unwrap_or(u64::MAX)
    } else if (ahead.eat("…") || ahead.eat("...")) && ahead.peek().is_none_or(is_blank) {
        // How many is not said, so at least one.
        1
    } else {
        return None;
    };
    *at = ahead;
    Some(count)
}

/// Reads `TOKEN@hub(+1.234) key=value …`; the time may be missing.
pub(crate) fn stage(at: &mut Cursor<'_>) -> Option<Stage> {
    let mut ahead = *at;
    let token = ahead.run(is_name);
    if token.is_empty() || !ahead.eat("@") {
        return None;
    }
    let hub = ahead.run(is_name);
    if hub.is_empty() || ahead.peek() == Some('@') {
        return None;
    }
    let offset = ahead.offset().flatten();
    let mut stage = Stage {
        token: escape::word(token).into_owned(),
        hub: escape::word(hub).into_owned(),
        offset,
        details: Vec::new(),
    };
    *at = ahead;
    while let Some(detail) = detail(&mut ahead) {
        stage.details.push(detail);
        *at = ahead;
    }
    Some(stage)
}

/// Reads ` key=value`.
fn detail(at: &mut Cursor<'_>) -> Option<(String, Value)> {
    if !at.blanks() {
        return None;
    }
    let key = at.run(is_name);
    if key.is_empty() || !at.eat("=") {
        return None;
    }
    let value = Value::from_encoded(at.run(is_value));
    Some((escape::word(key).into_owned(), value))
}

/// Reads a verdict up to the end of the line, of the string around it, or to a reply.
fn verdict<'a>(at: &mut Cursor<'a>) -> &'a str {
    let start = at.pos;
    loop {
        at.run(|c| !is_blank(c) && !is_hard_end(c));
        let mut ahead = *at;
        if matches!(ahead.separator(), Some(Separator::Reply(_))) {
            break;
        }
        if !at.blanks() {
            break;
        }
    }
    at.text[start..at.pos].trim_end()
}
