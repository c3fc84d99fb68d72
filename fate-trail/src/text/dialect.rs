//! The arrow form of the system that the idea comes from, where details stand before the `@`, may
//! hold spaces, and no head says where a trail starts:
//! `AWAITING → POSTED target=host/1@client/1(+0ms) → ENQUEUED@host/1(+2ms) ⇒ verdict`.

use super::cursor::{Cursor, Separator, is_blank, is_hard_end, is_name};
use super::parse::{Parsed, finish};
use super::value::Value;
use super::{Form, escape};
use crate::limits::DIALECT_ENTRY_BYTES;
use crate::stage::StageId;
use crate::trail::{Stage, Trail};

/// Tokens of that system for which this registry has a replacement.
const FOREIGN: [&str; 3] = ["QUEUED", "RESPONSE_POSTED", "ARRIVAL"];

/// Shortest token that is taken for one without being known; shorter words are too common.
const TOKEN_CHARS_MIN: usize = 3;

/// Reads a trail without a head. Capital letters before an `@` are common in logs, so it takes
/// more than one stage to believe in a trail: a time, or an arrow between stages of which at least
/// one is known and names its hub.
pub(crate) fn trail(at: Cursor<'_>) -> Option<Parsed> {
    let mut ahead = at;
    let token = word(&mut ahead);
    if !is_upper(token) || !(ahead.peek() == Some('@') || is_known(token)) {
        return None;
    }
    finish(at, Trail::default(), Form::Dialect)
}

/// Whether what [`trail`] read is enough to believe in.
pub(crate) fn is_evident(trail: &Trail) -> bool {
    let timed = |s: &Stage| s.offset.is_some();
    let placed = |s: &Stage| !s.hub.is_empty() && is_known(&s.token);
    trail.stages.iter().any(timed) || trail.stages.len() > 1 && trail.stages.iter().any(placed)
}

/// True where a stage of this form may start: the cheap question that a search asks at each word.
pub(crate) fn may_start(at: Cursor<'_>) -> bool {
    let mut at = at;
    let token = word(&mut at);
    is_upper(token)
        && match at.peek() {
            Some('@') => true,
            Some(c) => is_blank(c) && is_known(token),
            None => false,
        }
}

/// Reads `TOKEN details@hub(+12ms)`, `TOKEN details@hub` or `TOKEN details`, each up to the next
/// separator. `headless` says that no head and no arrow stands before it, so that a known token
/// behind it is more likely to be the true start.
pub(crate) fn stage(at: &mut Cursor<'_>, headless: bool) -> Option<Stage> {
    let mut ahead = *at;
    let token = word(&mut ahead);
    if !is_upper(token) && !is_dotted(token) {
        return None;
    }
    let details_from = ahead.pos;
    let limit = floor(ahead.text, details_from + DIALECT_ENTRY_BYTES);
    let mut place = None;
    loop {
        ahead.run(|c| !is_blank(c) && c != '@' && !is_hard_end(c));
        if ahead.pos >= limit && ahead.pos < ahead.text.len() {
            return None;
        }
        if ahead.peek() == Some('@') {
            let sign = ahead.pos;
            ahead.pos += 1;
            let hub = ahead.run(is_name);
            let hub_end = ahead.pos;
            if let Some(offset) = ahead.offset().filter(|_| !hub.is_empty()) {
                let details = &at.text[details_from..sign];
                return done(at, ahead.pos, token, details, hub, offset);
            }
            place = Some((sign, hub, hub_end));
            continue;
        }
        let end = ahead.pos;
        let mut behind = ahead;
        let separated = match behind.separator() {
            Some(Separator::Next) => starts_entry(behind),
            Some(_) => true,
            None => false,
        };
        if !separated && ahead.blanks() {
            if headless && may_start(ahead) {
                return None;
            }
            continue;
        }
        // The end of the entry. Its hub is what stands behind the last `@`, if nothing follows.
        let placed = place.filter(|(_, hub, hub_end)| !hub.is_empty() && *hub_end == end);
        let (sign, hub) = placed.map_or((end, ""), |(sign, hub, _)| (sign, hub));
        if hub.is_empty() && !separated && !at.text[details_from..end].trim().is_empty() {
            // Free text up to the end of the line is the log's, not the trail's.
            return None;
        }
        let details = &at.text[details_from..sign];
        return done(at, end, token, details, hub, None);
    }
}

/// Builds the stage and moves the cursor behind it.
fn done(
    at: &mut Cursor<'_>,
    end: usize,
    token: &str,
    details_text: &str,
    hub: &str,
    offset: Option<u64>,
) -> Option<Stage> {
    at.pos = end;
    Some(Stage {
        token: token.to_owned(),
        hub: escape::word(hub).into_owned(),
        offset,
        details: details(details_text),
    })
}

/// Splits `type=Foo gates=[a, b] reason=two words` into details. Words in front of the first key
/// become the detail `text`.
fn details(text: &str) -> Vec<(String, Value)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut in_brackets = false;
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        let key_value = word.split_once('=').filter(|(key, _)| is_key(key));
        match (key_value, found.last_mut()) {
            (Some((key, value)), _) if !in_brackets => {
                in_brackets = value.starts_with('[');
                found.push((key, value.to_owned()));
            }
            (_, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (_, None) => found.push(("text", word.to_owned())),
        }
        in_brackets &= !word.ends_with(']');
    }
    found
        .into_iter()
        .map(|(key, value)| {
            let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
            let value = match inner {
                Some(list) => Value::list(list.split(',').map(str::trim)),
                None => Value::text(&value),
            };
            (key.to_owned(), value)
        })
        .collect()
}

fn word<'a>(at: &mut Cursor<'a>) -> &'a str {
    at.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

/// Whether an entry starts here; else an arrow belongs to the free text in front of it.
fn starts_entry(at: Cursor<'_>) -> bool {
    let mut ahead = at;
    let token = word(&mut ahead);
    is_upper(token)
        || is_dotted(token) && ahead.peek() == Some('@')
        || ["…", "...", "gap="].iter().any(|gap| at.rest().starts_with(gap))
}

fn is_upper(token: &str) -> bool {
    token.len() >= TOKEN_CHARS_MIN
        && token.starts_with(|c: char| c.is_ascii_uppercase())
        && token.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// The shape of an application's own token.
fn is_dotted(token: &str) -> bool {
    token.contains('.') && token.split('.').all(|part| !part.is_empty())
}

fn is_known(token: &str) -> bool {
    FOREIGN.contains(&token) || StageId::from_token(token).is_some()
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The nearest character boundary at or below an offset.
pub(crate) fn floor(text: &str, offset: usize) -> usize {
    if offset >= text.len() {
        return text.len();
    }
    (0..=offset).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}
