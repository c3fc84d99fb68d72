//! The frames of the protocol as plain values.
//!
//! Fields are only ever added, never renamed or retyped. Ids and sequence numbers travel as
//! strings, because a reader outside Rust may keep only 53 bits of a number.

use serde::{Deserialize, Serialize};

use super::{MAX_GATES, MAX_NAME, MAX_NUMBER};

/// 64-bit ids as JSON strings.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom("a 64-bit id in a string is expected"))
    }
}

/// One line of the protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Frame {
    /// First line of either side.
    Hello(Hello),
    /// What a client wants to see.
    Subscribe(Subscribe),
    /// A part of the state of everything subscribed.
    Snapshot(SnapshotChunk),
    /// The newest state of one hub.
    State(StateFrame),
    /// A hub that is no longer there.
    Removed(Removed),
    /// Sign of life.
    Heartbeat(Heartbeat),
    /// Something was lost on the way.
    Gap(Gap),
    /// Last line, with a reason.
    Bye(Bye),
    /// A finished trail; only to who asked, see [`super::FATES`].
    Fate(FateFrame),
    /// Finished trails that were lost.
    FateGap(FateGap),
}

impl Frame {
    /// Every kind this version knows, as it stands in `kind`.
    pub const KINDS: [&'static str; 10] =
        ["hello", "subscribe", "snapshot", "state", "removed", "heartbeat", "gap", "bye", "fate", "fate-gap"];

    /// The boot id the frame carries; empty in a client's hello.
    pub fn boot(&self) -> &str {
        match self {
            Frame::Hello(f) => &f.boot,
            Frame::Subscribe(f) => &f.boot,
            Frame::Snapshot(f) => &f.boot,
            Frame::State(f) => &f.boot,
            Frame::Removed(f) => &f.boot,
            Frame::Heartbeat(f) => &f.boot,
            Frame::Gap(f) => &f.boot,
            Frame::Bye(f) => &f.boot,
            Frame::Fate(f) => &f.boot,
            Frame::FateGap(f) => &f.boot,
        }
    }
}

/// Who speaks, in which version, and (of a hub process) how its clocks stand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Always [`super::PROTOCOL`].
    pub protocol: String,
    /// `major.minor`.
    pub version: String,
    /// Drawn anew at each start of a hub process; empty for a client.
    #[serde(default)]
    pub boot: String,
    /// Program and its version, for example `fate-hub 0.1.0`.
    #[serde(default)]
    pub product: String,
    /// Optional abilities; a peer uses only what both sides name.
    #[serde(default)]
    pub features: Vec<String>,
    /// Encodings the speaker reads; `json` is always among them.
    #[serde(default)]
    pub encodings: Vec<String>,
    /// Name of the process, for example `demo`.
    #[serde(default)]
    pub name: String,
    /// Process id; 0 for a client.
    #[serde(default)]
    pub pid: u32,
    /// Start of the process, RFC 3339 UTC.
    #[serde(default)]
    pub started: String,
    /// Wall clock when this line was made, microseconds since the epoch.
    #[serde(default, with = "as_text")]
    pub wall_us: u64,
    /// Monotonic clock at the same moment, microseconds from an arbitrary start.
    #[serde(default, with = "as_text")]
    pub mono_us: u64,
}

/// What a client wants to see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subscribe {
    /// Boot id of the process the client believes it talks to.
    #[serde(default)]
    pub boot: String,
    /// Globs of hub names; empty means all.
    #[serde(default)]
    pub hubs: Vec<String>,
    /// State frames per second and hub, at most; 0 means as many as the hub is willing to send.
    #[serde(default)]
    pub rate: u32,
    /// Finished trails as well; only where the hub process offers [`super::FATES`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fates: bool,
}

/// A part of the first picture. The chunk with `last` ends it and says as of which sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SnapshotChunk {
    /// Boot id of the process.
    pub boot: String,
    /// 0, 1, 2 … within this snapshot.
    pub chunk: u32,
    /// States of some hubs.
    pub hubs: Vec<HubState>,
    /// True in the last chunk.
    pub last: bool,
    /// Sequence of the picture as a whole; frames at or below it are older than the picture.
    #[serde(with = "as_text")]
    pub as_of: u64,
}

/// The newest state of one hub.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateFrame {
    /// Boot id of the process.
    pub boot: String,
    /// Rises with each picture the process takes of its hubs.
    #[serde(with = "as_text")]
    pub seq: u64,
    /// The state.
    pub hub: HubState,
}

/// A hub that is no longer there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    /// Boot id of the process.
    pub boot: String,
    /// Sequence of the picture it was missing from.
    #[serde(with = "as_text")]
    pub seq: u64,
    /// Name of the hub.
    pub hub: String,
}

/// Sign of life, once a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Boot id of the process.
    pub boot: String,
    /// Newest sequence.
    #[serde(with = "as_text")]
    pub seq: u64,
    /// Wall clock, microseconds since the epoch.
    #[serde(with = "as_text")]
    pub wall_us: u64,
    /// Monotonic clock, microseconds.
    #[serde(with = "as_text")]
    pub mono_us: u64,
    /// Trails and events the process itself had to drop since it started.
    #[serde(default)]
    pub lost: u64,
}

/// Something is missing between two sequence numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// Boot id of the process.
    pub boot: String,
    /// First sequence that may be incomplete.
    #[serde(with = "as_text")]
    pub from: u64,
    /// Last sequence that may be incomplete.
    #[serde(with = "as_text")]
    pub to: u64,
    /// How many things were lost.
    pub count: u64,
    /// Why, in a word, for example `recorder-full`.
    pub reason: String,
}

/// One finished trail of the hubs that the client looks at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FateFrame {
    /// Boot id of the process.
    pub boot: String,
    /// Number of the trail: all that finish in the process are counted without a hole, from 1.
    #[serde(with = "as_text")]
    pub seq: u64,
    /// Trails right before it that the client does not look at; so the frame before, or its gap,
    /// ended at `seq - passed - 1`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed: u64,
    /// The trail as its one line of text, at most [`super::MAX_TRAIL`] bytes.
    pub trail: String,
}

/// Finished trails that the client does not get: it was too slow, or the recorder too small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FateGap {
    /// Boot id of the process.
    pub boot: String,
    /// First number that is not told of.
    #[serde(with = "as_text")]
    pub from: u64,
    /// Last one.
    #[serde(with = "as_text")]
    pub to: u64,
    /// How many trails between the two were lost; the others are of no interest to the client.
    pub count: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Last line of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bye {
    /// Boot id of the process.
    #[serde(default)]
    pub boot: String,
    /// Why, for programs.
    pub reason: ByeReason,
    /// Why, for people.
    #[serde(default)]
    pub text: String,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByeReason {
    /// The process stops serving.
    Shutdown,
    /// The client read too slowly.
    SlowClient,
    /// All places are taken.
    TooManyClients,
    /// The versions do not fit.
    Version,
    /// The peer sent something that is no such protocol.
    Protocol,
    /// A reason that this version does not know.
    #[serde(other)]
    Other,
}

/// What one hub looks like at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HubState {
    /// Name of the hub, for example `orders/7`.
    pub hub: String,
    /// Life phase in a word, for example `running`.
    #[serde(default)]
    pub run_level: String,
    /// Age of the hub in microseconds, if known.
    #[serde(default)]
    pub age_us: Option<u64>,
    /// Deliveries in the main queue.
    pub main: u64,
    /// Age of the oldest of them, microseconds.
    #[serde(default)]
    pub main_oldest_us: Option<u64>,
    /// Deliveries in the deferred queue.
    pub deferred: u64,
    /// Age of the oldest of them, microseconds.
    #[serde(default)]
    pub deferred_oldest_us: Option<u64>,
    /// The running turn.
    pub running: Option<Running>,
    /// Deliveries in neither queue: taken out, no handler yet.
    pub between: u64,
    /// How long the oldest of them has been there, microseconds, if known.
    #[serde(default)]
    pub between_us: Option<u64>,
    /// Gates, in the hub's order.
    pub gates: Vec<Gate>,
    /// Gates beyond [`super::MAX_GATES`].
    #[serde(default)]
    pub gates_omitted: u64,
    /// Deliveries posted since the hub started.
    #[serde(default)]
    pub posted: u64,
    /// Turns that ended.
    pub turns: u64,
    /// Turns put back because an older delivery had appeared.
    pub requeues: u64,
    /// Trails of this hub the recorder had to drop.
    #[serde(default)]
    pub lost: u64,
}

/// The turn a hub is in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// Id of the delivery.
    pub delivery: String,
    /// Type name of the message.
    #[serde(rename = "type")]
    pub type_name: String,
    /// How long the turn has been running, microseconds.
    pub age_us: u64,
    /// Last stage token it reached.
    #[serde(default)]
    pub last_stage: String,
}

/// One gate of a hub.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Name of the gate.
    pub name: String,
    /// True while it holds deliveries back.
    pub closed: bool,
    /// How long it has been closed, microseconds; 0 when open.
    pub closed_us: u64,
    /// Deferred deliveries it holds.
    pub holding: u64,
    /// True if it was never open since the hub started; unknown if the hub does not say.
    #[serde(default)]
    pub never_opened: Option<bool>,
}

impl HubState {
    /// The same state cut to the limits of a frame: names to [`super::MAX_NAME`] characters, numbers
    /// to [`super::MAX_NUMBER`], gates to [`super::MAX_GATES`]. A state that keeps the limits is left
    /// alone.
    pub fn bounded(mut self) -> Self {
        if self.gates.len() > MAX_GATES {
            let surplus = (self.gates.len() - MAX_GATES) as u64;
            self.gates_omitted = self.gates_omitted.saturating_add(surplus);
            self.gates.truncate(MAX_GATES);
        }
        cut(&mut self.hub);
        cut(&mut self.run_level);
        for gate in &mut self.gates {
            cut(&mut gate.name);
            limit([&mut gate.closed_us, &mut gate.holding]);
        }
        if let Some(running) = &mut self.running {
            cut(&mut running.delivery);
            cut(&mut running.type_name);
            cut(&mut running.last_stage);
            limit([&mut running.age_us]);
        }
        limit([
            &mut self.main,
            &mut self.deferred,
            &mut self.between,
            &mut self.gates_omitted,
            &mut self.posted,
            &mut self.turns,
            &mut self.requeues,
            &mut self.lost,
        ]);
        let ages =
            [&mut self.age_us, &mut self.main_oldest_us, &mut self.deferred_oldest_us, &mut self.between_us];
        ages.into_iter().flatten().for_each(|age| limit([age]));
        self
    }

    /// True if `other` differs only in ages, which a reader goes on counting by itself.
    pub fn same_but_ages(&self, other: &HubState) -> bool {
        let timeless = |state: &HubState| {
            let mut state = state.clone();
            state.age_us = None;
            state.main_oldest_us = None;
            state.deferred_oldest_us = None;
            state.between_us = None;
            for gate in &mut state.gates {
                gate.closed_us = 0;
            }
            if let Some(running) = &mut state.running {
                running.age_us = 0;
            }
            state
        };
        timeless(self) == timeless(other)
    }
}

/// Cuts numbers to [`MAX_NUMBER`].
fn limit<const N: usize>(numbers: [&mut u64; N]) {
    for number in numbers {
        *number = (*number).min(MAX_NUMBER);
    }
}

/// Cuts a name to [`MAX_NAME`] characters and shows that something is missing.
pub(super) fn cut(name: &mut String) {
    if let Some((at, _)) = name.char_indices().nth(MAX_NAME) {
        name.truncate(at);
        name.push('…');
    }
}
