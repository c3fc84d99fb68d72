//! Every action and its keys in one table; the help screen and the footer are made from it.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key can do on the main screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Leave the program.
    Quit,
    /// Show or hide the keys.
    Help,
    /// Select the row above.
    Up,
    /// Select the row below.
    Down,
    /// Scroll a page up.
    PageUp,
    /// Scroll a page down.
    PageDown,
    /// Select the first row, and stay on whatever is worst.
    First,
    /// Select the last row.
    Last,
    /// Select the next row that has a warning.
    NextWarning,
    /// Type a filter.
    Filter,
    /// Drop the filter, close the help, go back to the worst row.
    Back,
    /// Sort by the next column.
    Sort,
    /// Freeze the picture; collecting goes on.
    Pause,
    /// Draw everything anew.
    Redraw,
    /// Stop the program until the shell continues it.
    Suspend,
}

impl Action {
    /// Every action, for tests and help.
    pub const ALL: [Action; 15] = [
        Action::Quit,
        Action::Help,
        Action::Up,
        Action::Down,
        Action::PageUp,
        Action::PageDown,
        Action::First,
        Action::Last,
        Action::NextWarning,
        Action::Filter,
        Action::Back,
        Action::Sort,
        Action::Pause,
        Action::Redraw,
        Action::Suspend,
    ];
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// The keys, any of them.
    pub keys: &'static [(KeyCode, KeyModifiers)],
    /// The keys as the help shows them.
    pub shown: &'static str,
    /// What the help says.
    pub help: &'static str,
    /// A word for the footer; empty leaves it out.
    pub word: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;

/// A row of the table; a function so that the table reads as one.
const fn bind(
    action: Action,
    keys: &'static [(KeyCode, KeyModifiers)],
    shown: &'static str,
    word: &'static str,
    help: &'static str,
) -> Binding {
    Binding { action, keys, shown, help, word }
}

/// The table.
pub const BINDINGS: &[Binding] = &[
    bind(Action::Help, &[(KeyCode::Char('?'), NONE)], "?", "help", "show or hide these keys"),
    bind(
        Action::Down,
        &[(KeyCode::Down, NONE), (KeyCode::Char('j'), NONE)],
        "Down j",
        "",
        "select the next hub",
    ),
    bind(Action::Up, &[(KeyCode::Up, NONE), (KeyCode::Char('k'), NONE)], "Up k", "", "select the hub above"),
    bind(Action::PageDown, &[(KeyCode::PageDown, NONE)], "PgDn", "", "a page down"),
    bind(Action::PageUp, &[(KeyCode::PageUp, NONE)], "PgUp", "", "a page up"),
    bind(
        Action::First,
        &[(KeyCode::Home, NONE), (KeyCode::Char('g'), NONE)],
        "Home g",
        "",
        "the first hub; the selection then stays on the worst",
    ),
    bind(Action::Last, &[(KeyCode::End, NONE), (KeyCode::Char('G'), NONE)], "End G", "", "the last hub"),
    bind(
        Action::NextWarning,
        &[(KeyCode::Char('w'), NONE)],
        "w",
        "next warning",
        "the next hub with a warning",
    ),
    bind(
        Action::Filter,
        &[(KeyCode::Char('/'), NONE)],
        "/",
        "filter",
        "show only hubs whose name holds a text or matches a pattern with * and ?",
    ),
    bind(
        Action::Sort,
        &[(KeyCode::Char('s'), NONE)],
        "s",
        "sort",
        "sort by: worst first, waiting deliveries, name",
    ),
    bind(
        Action::Pause,
        &[(KeyCode::Char(' '), NONE)],
        "Space",
        "pause",
        "freeze the picture and go on; collecting never stops",
    ),
    bind(
        Action::Back,
        &[(KeyCode::Esc, NONE)],
        "Esc",
        "",
        "close the help, drop the filter, go back to the worst hub",
    ),
    bind(Action::Redraw, &[(KeyCode::Char('l'), CTRL)], "Ctrl-L", "", "draw everything anew"),
    bind(Action::Suspend, &[(KeyCode::Char('z'), CTRL)], "Ctrl-Z", "", "suspend; fg in the shell comes back"),
    bind(
        Action::Quit,
        &[(KeyCode::Char('q'), NONE), (KeyCode::Char('c'), CTRL)],
        "q Ctrl-C",
        "quit",
        "leave",
    ),
];

/// The action bound to a key press, if any. Shift is ignored: terminals send it or leave it out,
/// and the character already says it.
pub(crate) fn action_of(key: &KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let pressed = (key.code, key.modifiers.difference(KeyModifiers::SHIFT));
    BINDINGS.iter().find(|binding| binding.keys.contains(&pressed)).map(|binding| binding.action)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_action_has_keys_and_help() {
        for action in Action::ALL {
            let rows: Vec<_> = BINDINGS.iter().filter(|b| b.action == action).collect();
            assert_eq!(rows.len(), 1, "{action:?} stands in the table once");
            assert!(!rows[0].keys.is_empty() && !rows[0].shown.is_empty());
            assert!(!rows[0].help.is_empty(), "{action:?}");
            for &(code, modifiers) in rows[0].keys {
                assert_eq!(action_of(&KeyEvent::new(code, modifiers)), Some(action));
            }
        }
        assert_eq!(BINDINGS.len(), Action::ALL.len());
    }

    #[test]
    fn no_key_is_bound_twice() {
        let mut seen = HashSet::new();
        for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
            assert!(seen.insert(key), "{key:?}");
        }
    }

    #[test]
    fn shift_may_be_reported_or_not() {
        let key = |modifiers| action_of(&KeyEvent::new(KeyCode::Char('G'), modifiers));
        assert_eq!(key(KeyModifiers::SHIFT), Some(Action::Last));
        assert_eq!(key(KeyModifiers::NONE), Some(Action::Last));
        assert_eq!(key(KeyModifiers::CONTROL), None);
    }
}
