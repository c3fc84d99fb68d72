//! The client's side of a session as a state machine: lines in, events and lines out.

use std::collections::HashMap;

use super::frame::cut;
use super::{
    Bye, Decoded, FATES, FateFrame, FateGap, Frame, Gap, Heartbeat, Hello, HubState, LinePiece,
    MAX_BAD_LINES, MAX_HUBS, PROTOCOL, Refusal, SnapshotChunk, Subscribe, VERSION, Version, agree, decode,
    encode,
};
use crate::trail::Trail;

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Name and version of the client, for example `fate-tui 0.1.0`.
    pub product: String,
    /// Globs of hub names; empty means all.
    pub hubs: Vec<String>,
    /// State frames per second and hub; 0 leaves it to the hub.
    pub rate: u32,
}

/// What a line meant to the session.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The hub process introduced itself and the versions fit.
    Attached(Box<Hello>, Version),
    /// The first picture is complete.
    Snapshot(Vec<HubState>),
    /// A newer state of one hub.
    State(Box<HubState>),
    /// A hub is gone.
    Removed(String),
    /// Sign of life.
    Heartbeat(Heartbeat),
    /// Something was lost.
    Gap(Gap),
    /// A trail finished; only where [`ClientSession::following_fates`] asked. Its number, and the
    /// very trail.
    Fate(u64, Box<Trail>),
    /// Finished trails were lost, or one was damaged on its way.
    FateGap(FateGap),
    /// The hub process ended the session.
    Bye(Bye),
    /// The versions do not fit; the session is over.
    Refused(Refusal),
    /// The peer does not keep to the protocol; the session is over.
    Broken(String),
}

/// Events of one line, and lines to send in answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What happened, in order.
    pub events: Vec<ClientEvent>,
    /// Lines to send, newline included.
    pub send: Vec<String>,
}

/// What a session ignored, by reason. Shown to the user rather than hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames of a kind this version does not know.
    pub unknown_kinds: u64,
    /// Fields this version does not know.
    pub unknown_fields: u64,
    /// Lines that are no frames.
    pub bad_lines: u64,
    /// Frames of another start of the process.
    pub other_boot: u64,
    /// State frames older than what is already known.
    pub outdated: u64,
    /// Hubs beyond [`MAX_HUBS`].
    pub hubs_dropped: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hello,
    Snapshot,
    Live,
    Over,
}

/// One attachment to one hub process. Make a new one for each connection.
#[derive(Debug)]
pub struct ClientSession {
    wanted: Wanted,
    phase: Phase,
    boot: String,
    collected: Vec<HubState>,
    next_chunk: u32,
    /// Newest sequence seen of each hub.
    seen: HashMap<String, u64>,
    as_of: u64,
    /// Finished trails are wanted.
    follows: bool,
    /// The last number of a finished trail that was told of.
    last_fate: Option<u64>,
    counts: Counts,
}

impl ClientSession {
    /// A session that waits for the hub's hello.
    pub fn new(wanted: Wanted) -> Self {
        ClientSession {
            wanted,
            phase: Phase::Hello,
            boot: String::new(),
            collected: Vec::new(),
            next_chunk: 0,
            seen: HashMap::new(),
            as_of: 0,
            follows: false,
            last_fate: None,
            counts: Counts::default(),
        }
    }

    /// The same, which also asks for the trails that finish from then on. A hub process that does
    /// not offer them sends none.
    #[must_use]
    pub fn following_fates(mut self) -> Self {
        self.follows = true;
        self
    }

    /// The line to send at once, before anything has arrived.
    pub fn opening(&self) -> String {
        line(&Frame::Hello(Hello {
            protocol: PROTOCOL.to_owned(),
            version: VERSION.to_string(),
            product: self.wanted.product.clone(),
            features: if self.follows { vec![FATES.to_owned()] } else { Vec::new() },
            encodings: vec!["json".to_owned()],
            ..Hello::default()
        }))
    }

    /// What was ignored so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Boot id of the process; empty before its hello.
    pub fn boot(&self) -> &str {
        &self.boot
    }

    /// True once nothing more will come of this session.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Takes one piece of the incoming stream.
    pub fn piece(&mut self, piece: &LinePiece) -> Step {
        let mut step = Step::default();
        if self.is_over() {
            return step;
        }
        match piece {
            LinePiece::TooLong { bytes } => self.bad(&format!("a line of {bytes} bytes"), &mut step),
            LinePiece::Line(bytes) => match decode(bytes) {
                Ok(Decoded::Frame(frame, unknown)) => {
                    self.counts.unknown_fields += unknown;
                    self.frame(*frame, &mut step);
                }
                Ok(Decoded::Unknown(_)) => self.counts.unknown_kinds += 1,
                Err(error) => self.bad(&error.to_string(), &mut step),
            },
        }
        step
    }

    fn bad(&mut self, what: &str, step: &mut Step) {
        self.counts.bad_lines += 1;
        if self.phase == Phase::Hello {
            self.end(ClientEvent::Broken(format!("no {PROTOCOL} hub answers here: {what}")), step);
        } else if self.counts.bad_lines >= MAX_BAD_LINES {
            let lines = self.counts.bad_lines;
            self.end(ClientEvent::Broken(format!("{lines} damaged lines, the last: {what}")), step);
        }
    }

    fn end(&mut self, event: ClientEvent, step: &mut Step) {
        self.phase = Phase::Over;
        step.events.push(event);
    }

    fn frame(&mut self, frame: Frame, step: &mut Step) {
        match (self.phase, frame) {
            (Phase::Hello, Frame::Hello(hello)) => self.hello(hello, step),
            // A hub that is full says goodbye before it says hello.
            (_, Frame::Bye(bye)) => self.end(ClientEvent::Bye(bye), step),
            (Phase::Hello, _) => self.bad("the first line is no hello", step),
            (_, frame) if frame.boot() != self.boot => self.counts.other_boot += 1,
            (Phase::Snapshot, Frame::Snapshot(chunk)) => self.chunk(chunk, step),
            (Phase::Live, Frame::State(state)) => {
                // Cut before it is compared: a hub is known by the name that is shown.
                let hub = state.hub.bounded();
                if self.is_news(&hub.hub, state.seq) {
                    step.events.push(ClientEvent::State(Box::new(hub)));
                }
            }
            (Phase::Live, Frame::Removed(mut gone)) => {
                cut(&mut gone.hub);
                if self.is_news(&gone.hub, gone.seq) {
                    self.seen.remove(&gone.hub);
                    step.events.push(ClientEvent::Removed(gone.hub));
                }
            }
            (_, Frame::Heartbeat(beat)) => step.events.push(ClientEvent::Heartbeat(beat)),
            (_, Frame::Gap(gap)) => step.events.push(ClientEvent::Gap(gap)),
            (Phase::Live, Frame::Fate(fate)) if self.follows => self.fate(&fate, step),
            (Phase::Live, Frame::FateGap(gap)) if self.follows => self.fate_gap(gap, step),
            (_, Frame::Fate(_) | Frame::FateGap(_)) => self.bad("a trail that nobody asked for", step),
            (_, Frame::Hello(_) | Frame::Subscribe(_) | Frame::Snapshot(_)) => {
                self.bad("a frame that has no place here", step);
            }
            // States before the picture is complete: the picture is newer or the next one comes.
            (_, Frame::State(_) | Frame::Removed(_)) => self.counts.outdated += 1,
        }
    }

    fn hello(&mut self, hello: Hello, step: &mut Step) {
        let peer = if hello.product.is_empty() { "the hub" } else { &hello.product };
        match agree(VERSION, &self.wanted.product, &hello.protocol, &hello.version, peer) {
            Err(refusal) => self.end(ClientEvent::Refused(refusal), step),
            Ok(_) if hello.boot.is_empty() => {
                self.end(ClientEvent::Broken("the hub's hello has no boot id".to_owned()), step);
            }
            Ok(version) => {
                self.boot.clone_from(&hello.boot);
                self.phase = Phase::Snapshot;
                step.send.push(line(&Frame::Subscribe(Subscribe {
                    boot: hello.boot.clone(),
                    hubs: self.wanted.hubs.clone(),
                    rate: self.wanted.rate,
                    fates: self.follows && hello.features.iter().any(|feature| feature == FATES),
                })));
                step.events.push(ClientEvent::Attached(Box::new(hello), version));
            }
        }
    }

    fn fate(&mut self, fate: &FateFrame, step: &mut Step) {
        let Some(from) = fate.seq.checked_sub(fate.passed).filter(|from| *from > 0) else {
            return self.bad("a trail whose number makes no sense", step);
        };
        if !self.joins(from, fate.seq, step) {
            return;
        }
        match fate.trail.parse() {
            Ok(trail) => step.events.push(ClientEvent::Fate(fate.seq, Box::new(trail))),
            Err(error) => {
                let (boot, seq) = (self.boot.clone(), fate.seq);
                step.events.push(ClientEvent::FateGap(FateGap { boot, from: seq, to: seq, count: 1 }));
                self.bad(&format!("a damaged trail: {error}"), step);
            }
        }
    }

    fn fate_gap(&mut self, gap: FateGap, step: &mut Step) {
        if gap.from == 0 || gap.to < gap.from {
            return self.bad("a gap whose numbers make no sense", step);
        }
        if self.joins(gap.from, gap.to, step) {
            step.events.push(ClientEvent::FateGap(gap));
        }
    }

    /// Whether the numbers are news. A hole before them is a loss that nobody told of.
    fn joins(&mut self, from: u64, to: u64, step: &mut Step) -> bool {
        let next = self.last_fate.map_or(from, |last| last.saturating_add(1));
        if from < next {
            self.counts.outdated += 1;
            return false;
        }
        if from > next {
            let (boot, count) = (self.boot.clone(), from - next);
            let gap = FateGap { boot, from: next, to: from - 1, count };
            step.events.push(ClientEvent::FateGap(gap));
        }
        self.last_fate = Some(to);
        true
    }

    fn chunk(&mut self, chunk: SnapshotChunk, step: &mut Step) {
        if chunk.chunk != self.next_chunk {
            let text = format!("snapshot chunk {} where {} is due", chunk.chunk, self.next_chunk);
            return self.end(ClientEvent::Broken(text), step);
        }
        self.next_chunk += 1;
        let room = MAX_HUBS.saturating_sub(self.collected.len());
        self.counts.hubs_dropped += chunk.hubs.len().saturating_sub(room) as u64;
        self.collected.extend(chunk.hubs.into_iter().take(room).map(HubState::bounded));
        if chunk.last {
            self.as_of = chunk.as_of;
            self.phase = Phase::Live;
            let hubs = std::mem::take(&mut self.collected);
            self.seen = hubs.iter().map(|h| (h.hub.clone(), chunk.as_of)).collect();
            step.events.push(ClientEvent::Snapshot(hubs));
        }
    }

    /// Remembers the newest sequence of a hub; false for what is older, or one hub too many.
    fn is_news(&mut self, hub: &str, seq: u64) -> bool {
        if let Some(newest) = self.seen.get_mut(hub) {
            if seq <= *newest {
                self.counts.outdated += 1;
                return false;
            }
            *newest = seq;
            return true;
        }
        if seq <= self.as_of {
            self.counts.outdated += 1;
            return false;
        }
        if self.seen.len() >= MAX_HUBS {
            self.counts.hubs_dropped += 1;
            return false;
        }
        self.seen.insert(hub.to_owned(), seq);
        true
    }
}

/// A frame of our own as a line; ours are far below every limit.
fn line(frame: &Frame) -> String {
    encode(frame).unwrap_or_default()
}
