//! Named gates and everything the gate lock **G** guards: which are closed and whom they admit.

use super::envelope::Kind;
use crate::limits::{MAX_GATES, MAX_NAME_BYTES};

/// Whom a closed gate lets through. Runs under the gate lock, so it must be quick and must not
/// open or close a gate.
pub type Admission<M> = Box<dyn Fn(Kind, &M) -> bool + Send + Sync>;

/// A gate as a hub declares it. Closed to begin with, and admitting nothing, unless told otherwise.
///
/// While any gate is closed, an ordinary delivery whose turn comes is parked, unless a closed gate
/// admits it: *one* admitting gate is enough, because the work that opens one gate must not wait
/// for another. A parked delivery waits until no gate is closed.
pub struct Gate<M> {
    pub(super) name: String,
    pub(super) closed: bool,
    pub(super) admits: Option<Admission<M>>,
}

impl<M> Gate<M> {
    /// A closed gate that admits nothing.
    pub fn closed(name: impl Into<String>) -> Self {
        Self { name: name.into(), closed: true, admits: None }
    }

    /// A gate that is open until it is closed.
    pub fn open(name: impl Into<String>) -> Self {
        Self { closed: false, ..Self::closed(name) }
    }

    /// The same gate with a rule whom it lets through while closed.
    #[must_use]
    pub fn admitting(mut self, admits: impl Fn(Kind, &M) -> bool + Send + Sync + 'static) -> Self {
        self.admits = Some(Box::new(admits));
        self
    }
}

impl<M> std::fmt::Debug for Gate<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("name", &self.name)
            .field("closed", &self.closed)
            .field("admits", &self.admits.is_some())
            .finish()
    }
}

/// Why a hub cannot be made as it was described.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupError {
    /// A name is empty or longer than [`MAX_NAME_BYTES`].
    Name {
        /// What was to be named: `hub` or `gate`.
        what: &'static str,
        /// The name, cut.
        name: String,
    },
    /// Two gates of one hub have the same name.
    DuplicateGate(String),
    /// More than [`MAX_GATES`] gates.
    TooManyGates(usize),
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name { what, name } => {
                write!(f, "{what} name {name:?}: a name has 1 to {MAX_NAME_BYTES} bytes")
            }
            Self::DuplicateGate(name) => {
                write!(f, "gate {name:?} is declared twice: names of one hub's gates are unique")
            }
            Self::TooManyGates(count) => write!(
                f,
                "{count} gates declared: one hub has at most {MAX_GATES}, join conditions that open together"
            ),
        }
    }
}

impl std::error::Error for SetupError {}

/// Checks a name of a hub or gate.
pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), SetupError> {
    if (1..=MAX_NAME_BYTES).contains(&name.len()) {
        return Ok(());
    }
    Err(SetupError::Name { what, name: super::cut(name, 40).to_owned() })
}

/// Checks the gates of one hub together.
pub(super) fn check_gates<M>(gates: &[Gate<M>]) -> Result<(), SetupError> {
    if gates.len() > MAX_GATES {
        return Err(SetupError::TooManyGates(gates.len()));
    }
    for (at, gate) in gates.iter().enumerate() {
        check_name("gate", &gate.name)?;
        if gates[..at].iter().any(|before| before.name == gate.name) {
            return Err(SetupError::DuplicateGate(gate.name.clone()));
        }
    }
    Ok(())
}

/// The gates of one hub; lives under G.
pub(super) struct Gates<M, I> {
    gates: Vec<Gate<M>>,
    /// The closed ones as the recorder knows them; kept up to date so that parking, which is under
    /// T as well, only copies it.
    pub(super) closed_set: I,
}

impl<M, I> Gates<M, I> {
    pub(super) fn new(gates: Vec<Gate<M>>, closed_set: I) -> Self {
        Self { gates, closed_set }
    }

    pub(super) fn closed_count(&self) -> usize {
        self.gates.iter().filter(|gate| gate.closed).count()
    }

    /// Names of the closed gates, sorted.
    pub(super) fn closed_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.gates.iter().filter(|gate| gate.closed).map(|gate| gate.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Position of a gate that is closed (or open) now.
    pub(super) fn find(&self, name: &str, closed: bool) -> Option<usize> {
        self.gates.iter().position(|gate| gate.name == name && gate.closed == closed)
    }

    pub(super) fn set(&mut self, at: usize, closed: bool) {
        self.gates[at].closed = closed;
    }

    /// The first closed gate that lets the message through. Calls user code.
    pub(super) fn admitting(&self, kind: Kind, message: &M) -> Option<usize> {
        self.gates
            .iter()
            .position(|gate| gate.closed && gate.admits.as_ref().is_some_and(|admits| admits(kind, message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_of_one_hub_have_unique_names_of_sane_length() {
        let twice = [Gate::<()>::closed("a"), Gate::open("a")];
        assert_eq!(check_gates(&twice), Err(SetupError::DuplicateGate("a".into())));
        let nameless = [Gate::<()>::closed("")];
        assert!(check_gates(&nameless).is_err());
        let many: Vec<Gate<()>> = (0..=MAX_GATES).map(|at| Gate::closed(at.to_string())).collect();
        assert_eq!(check_gates(&many), Err(SetupError::TooManyGates(MAX_GATES + 1)));
        assert_eq!(check_gates(&many[1..]), Ok(()));
    }
}
