//! What the user sees and does: one value, one function that changes it, no input or output.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use fate_trail::live::{Severity, Warning, glob_matches};
use fate_trail::scrub::scrub_to;

use crate::keys::{Action, action_of};
use crate::source::{Found, Report, TargetId};
use crate::theme::Theme;
use crate::world::{RowKey, World, worst};

/// Longest filter that can be typed, in characters.
const MAX_FILTER: usize = 120;

/// Everything that can happen to the program.
#[derive(Debug)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal has another size.
    Resize,
    /// Time has passed: monotonic µs and wall clock µs.
    Tick(u64, i64),
    /// Hub processes were found.
    Found(Vec<Found>, Option<String>),
    /// A connection reports.
    Report(TargetId, Report),
    /// A signal asks the program to end, or a thread panicked.
    Stop,
    /// A signal asks the program to give the terminal back for a while.
    Suspend,
    /// The program goes on after it was stopped; the screen may show anything.
    Continue,
}

/// What the program around [`update`] has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Stay attached to this process from now on.
    Attach(TargetId),
    /// Build the terminal anew and draw everything.
    Redraw,
    /// Restore the terminal, stop, come back.
    Suspend,
    /// Take the terminal anew, whatever was done to it meanwhile, and draw everything.
    Retake,
    /// End.
    Quit,
}

/// What keys mean at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Keys are actions.
    Normal,
    /// The keys are shown; any action still works.
    Help,
    /// A filter is being typed.
    Filter,
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Severity, then name.
    Worst,
    /// Waiting deliveries, then name.
    Waiting,
    /// Name.
    Name,
}

impl SortBy {
    /// The word for the footer.
    pub fn as_str(self) -> &'static str {
        match self {
            SortBy::Worst => "worst first",
            SortBy::Waiting => "most waiting first",
            SortBy::Name => "by name",
        }
    }

    fn next(self) -> Self {
        match self {
            SortBy::Worst => SortBy::Waiting,
            SortBy::Waiting => SortBy::Name,
            SortBy::Name => SortBy::Worst,
        }
    }
}

/// The state of the program.
#[derive(Clone, Debug)]
pub struct App {
    /// What is collected.
    pub world: World,
    /// What is shown while paused.
    pub frozen: Option<Box<World>>,
    /// What keys mean.
    pub mode: Mode,
    /// Only hubs that match this are shown.
    pub filter: String,
    /// Order of the rows.
    pub sort: SortBy,
    /// The selected hub; `None` stays on the first row.
    pub selected: Option<RowKey>,
    /// Rows that fit on the screen; the drawing says it, paging uses it.
    pub page: usize,
    /// How things look.
    pub theme: Theme,
    /// Where hub processes are looked for, or why that is impossible.
    pub place: String,
    /// Something has changed since the last drawing.
    pub dirty: bool,
}

/// A row as it is shown: its key and the rules that hold.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Which hub.
    pub key: RowKey,
    /// Worst first.
    pub warnings: Vec<Warning>,
}

impl Shown {
    /// The worst severity.
    pub fn severity(&self) -> Option<Severity> {
        worst(&self.warnings)
    }
}

impl App {
    /// A program that has seen nothing yet. `place` is where it looks for hub processes.
    pub fn new(now: u64, wall: i64, theme: Theme, place: String) -> Self {
        App {
            world: World::new(now, wall),
            frozen: None,
            mode: Mode::Normal,
            filter: String::new(),
            sort: SortBy::Worst,
            selected: None,
            page: 1,
            theme,
            place,
            dirty: true,
        }
    }

    /// The world that is shown: the frozen one while paused.
    pub fn shown_world(&self) -> &World {
        self.frozen.as_deref().unwrap_or(&self.world)
    }

    fn matches(&self, hub: &str) -> bool {
        if self.filter.contains(['*', '?']) {
            glob_matches(&self.filter, hub)
        } else {
            hub.contains(self.filter.as_str())
        }
    }

    /// The rows in the order of the screen, filtered.
    pub fn shown(&self) -> Vec<Shown> {
        let world = self.shown_world();
        let mut rows: Vec<(u64, bool, Shown)> = world
            .rows
            .iter()
            .filter(|((_, hub), _)| self.matches(hub))
            .map(|(key, row)| {
                let waiting = row.state().main.saturating_add(row.state().deferred);
                let shown = Shown { key: key.clone(), warnings: world.warnings(key, row) };
                (waiting, row.gone.is_some(), shown)
            })
            .collect();
        // Stable sorts: rows that are equal stay in the order of process and name.
        match self.sort {
            SortBy::Worst => rows.sort_by_key(|(_, gone, shown)| {
                (*gone, std::cmp::Reverse(shown.severity()), shown.key.1.clone())
            }),
            SortBy::Waiting => rows.sort_by_key(|(waiting, gone, shown)| {
                (*gone, std::cmp::Reverse(*waiting), shown.key.1.clone())
            }),
            SortBy::Name => rows.sort_by_key(|(_, _, shown)| shown.key.1.clone()),
        }
        rows.into_iter().map(|(_, _, shown)| shown).collect()
    }

    /// Position of the selected row among `rows`; the first if it is not there (any more).
    pub fn position(&self, rows: &[Shown]) -> usize {
        self.selected.as_ref().and_then(|key| rows.iter().position(|row| row.key == *key)).unwrap_or(0)
    }

    fn select(&mut self, rows: &[Shown], at: usize) {
        self.selected = rows.get(at.min(rows.len().saturating_sub(1))).map(|row| row.key.clone());
    }
}

/// Applies what happened and says what has to be done about it.
pub fn update(app: &mut App, message: Message) -> Vec<Effect> {
    app.dirty = true;
    match message {
        Message::Stop => vec![Effect::Quit],
        Message::Suspend => vec![Effect::Suspend],
        Message::Continue => vec![Effect::Retake],
        Message::Resize => Vec::new(),
        Message::Tick(now, wall) => {
            app.world.tick(now, wall);
            // A still picture and an empty one need no drawing; the clock alone is no reason.
            Vec::new()
        }
        Message::Found(found, trouble) => {
            if let Some(trouble) = trouble {
                app.place = trouble;
            }
            found
                .into_iter()
                .filter_map(|f| match app.world.add(f) {
                    (id, true) => Some(Effect::Attach(id)),
                    _ => None,
                })
                .collect()
        }
        Message::Report(id, report) => {
            app.world.report(id, report);
            // While paused nothing on the screen changes but the bar that says so.
            app.dirty = app.frozen.is_none();
            Vec::new()
        }
        Message::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
        Message::Key(key) if app.mode == Mode::Filter => type_filter(app, &key),
        Message::Key(key) => action_of(&key).map_or_else(Vec::new, |action| act(app, action)),
    }
}

fn type_filter(app: &mut App, key: &KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            return vec![Effect::Quit];
        }
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => app.filter.clear(),
        KeyCode::Char(c) if app.filter.chars().count() < MAX_FILTER => {
            app.filter.push_str(&scrub_to(&c.to_string(), 1));
        }
        KeyCode::Backspace => {
            app.filter.pop();
        }
        KeyCode::Enter => app.mode = Mode::Normal,
        KeyCode::Esc => {
            app.filter.clear();
            app.mode = Mode::Normal;
        }
        _ => {}
    }
    Vec::new()
}

fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let rows = app.shown();
    let at = app.position(&rows);
    let page = app.page.max(1);
    match action {
        Action::Quit => return vec![Effect::Quit],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        Action::Help => {
            app.mode = if app.mode == Mode::Help { Mode::Normal } else { Mode::Help };
        }
        Action::Up => app.select(&rows, at.saturating_sub(1)),
        Action::Down => app.select(&rows, at + 1),
        Action::PageUp => app.select(&rows, at.saturating_sub(page)),
        Action::PageDown => app.select(&rows, at + page),
        Action::First => app.selected = None,
        Action::Last => app.select(&rows, usize::MAX),
        Action::NextWarning => {
            let next =
                (1..=rows.len()).map(|step| (at + step) % rows.len()).find(|&i| !rows[i].warnings.is_empty());
            if let Some(next) = next {
                app.select(&rows, next);
            }
        }
        Action::Filter => app.mode = Mode::Filter,
        Action::Sort => app.sort = app.sort.next(),
        Action::Pause => {
            app.frozen = match app.frozen.take() {
                Some(_) => None,
                None => Some(Box::new(app.world.clone())),
            };
        }
        Action::Back => {
            if app.mode == Mode::Help {
                app.mode = Mode::Normal;
            } else if app.filter.is_empty() {
                app.selected = None;
            } else {
                app.filter.clear();
            }
        }
    }
    Vec::new()
}
