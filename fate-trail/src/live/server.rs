//! The hub's side of a session as a state machine: lines in, at most one line at a time out.
//!
//! Memory per client is bounded: states wait in one slot per hub where the newest wins, and the
//! lane before them holds one hello, one snapshot, one heartbeat, one gap and one goodbye at most.
//! Finished trails, for a client that asked, wait in a queue that gives up its oldest.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::fates::{Fates, Next};
use super::{
    Bye, ByeReason, Decoded, FATES, FateBatch, Frame, Gap, Heartbeat, Hello, HubState, LinePiece,
    MAX_BAD_LINES, MAX_CHUNK, MAX_GLOBS, MAX_RATE, Removed, SnapshotChunk, StateFrame, Subscribe, VERSION,
    agree, decode, encode, glob_matches,
};

/// An unchanged hub is sent again after this long, so that a reader's own counting of ages cannot
/// drift away, in microseconds.
const REFRESH_MICROS: u64 = 1_000_000;

/// Bytes of a snapshot chunk besides its hubs: kind, boot id, chunk number, as-of.
const CHUNK_FRAME: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hello,
    Subscribe,
    /// Subscribed; the next picture goes out as a snapshot.
    Picture,
    Live,
    Closing,
}

#[derive(Debug)]
struct Sent {
    state: HubState,
    at: u64,
    /// Still in the slot, not yet written.
    pending: Option<u64>,
}

/// One client of one hub process.
#[derive(Debug)]
pub struct ServerSession {
    own_name: String,
    boot: String,
    phase: Phase,
    hubs: Vec<String>,
    interval: u64,
    lane: VecDeque<String>,
    heartbeat: Option<Heartbeat>,
    gap: Option<Gap>,
    sent: BTreeMap<String, Sent>,
    removed: BTreeMap<String, u64>,
    /// Both sides have the ability to follow trails.
    able: bool,
    /// The client asked for it, too: the trails that wait.
    fates: Option<Fates>,
    /// A state was written last, so that a trail comes next.
    state_last: bool,
    offers_fates: bool,
    /// Where the next search for a pending state starts, so that no hub starves the others.
    cursor: String,
    bad_lines: u64,
    reason: Option<(ByeReason, String)>,
}

impl ServerSession {
    /// A session that greets with `hello` and waits for the client's.
    pub fn new(hello: &Hello) -> Self {
        let mut session = ServerSession {
            own_name: hello.product.clone(),
            boot: hello.boot.clone(),
            phase: Phase::Hello,
            hubs: Vec::new(),
            interval: 1_000_000 / u64::from(MAX_RATE),
            lane: VecDeque::new(),
            heartbeat: None,
            gap: None,
            sent: BTreeMap::new(),
            removed: BTreeMap::new(),
            able: false,
            fates: None,
            state_last: false,
            offers_fates: hello.features.iter().any(|feature| feature == FATES),
            cursor: String::new(),
            bad_lines: 0,
            reason: None,
        };
        session.push(&Frame::Hello(hello.clone()));
        session
    }

    /// Takes one piece of the incoming stream.
    pub fn piece(&mut self, piece: &LinePiece) {
        if self.phase == Phase::Closing {
            return;
        }
        match piece {
            LinePiece::TooLong { bytes } => self.bad(&format!("a line of {bytes} bytes"), true),
            LinePiece::Line(bytes) => match decode(bytes) {
                Ok(Decoded::Frame(frame, _)) => self.frame(*frame),
                Ok(Decoded::Unknown(_)) => {}
                Err(error) => self.bad(&error.to_string(), false),
            },
        }
    }

    fn bad(&mut self, what: &str, at_once: bool) {
        self.bad_lines += 1;
        if at_once || self.phase == Phase::Hello || self.bad_lines >= MAX_BAD_LINES {
            self.close(ByeReason::Protocol, what);
        }
    }

    fn frame(&mut self, frame: Frame) {
        match (self.phase, frame) {
            (Phase::Hello, Frame::Hello(hello)) => {
                let peer = if hello.product.is_empty() { "the client" } else { &hello.product };
                match agree(VERSION, &self.own_name, &hello.protocol, &hello.version, peer) {
                    Ok(_) => {
                        self.phase = Phase::Subscribe;
                        self.able = self.offers_fates && hello.features.iter().any(|f| f == FATES);
                    }
                    Err(refusal) => self.close(ByeReason::Version, &refusal.to_string()),
                }
            }
            (Phase::Subscribe | Phase::Live | Phase::Picture, Frame::Subscribe(wish)) => {
                self.subscribe(wish);
            }
            (_, Frame::Bye(_)) => self.close(ByeReason::Other, "the client left"),
            (_, frame) => self.bad(&format!("a frame out of place: {}", name_of(&frame)), false),
        }
    }

    fn subscribe(&mut self, wish: Subscribe) {
        if !wish.boot.is_empty() && wish.boot != self.boot {
            let text = "the subscription names another start of this process; attach again";
            return self.close(ByeReason::Protocol, text);
        }
        if wish.hubs.len() > MAX_GLOBS {
            let text = format!("{} globs in a subscription, at most {MAX_GLOBS}", wish.hubs.len());
            return self.close(ByeReason::Protocol, &text);
        }
        self.hubs = wish.hubs;
        let rate = if wish.rate == 0 { MAX_RATE } else { wish.rate.min(MAX_RATE) };
        self.interval = 1_000_000 / u64::from(rate);
        self.sent.clear();
        self.removed.clear();
        self.fates = (wish.fates && self.able).then(Fates::default);
        self.phase = Phase::Picture;
    }

    /// True if the next [`Self::picture`] will be used: somebody is there and has subscribed.
    pub fn wants_picture(&self) -> bool {
        matches!(self.phase, Phase::Picture | Phase::Live)
    }

    /// Offers the newest states of all hubs, taken at `now` (monotonic microseconds) with number
    /// `seq`. The first one becomes the snapshot; later ones replace whatever still waits.
    pub fn picture(&mut self, seq: u64, now: u64, states: &[HubState]) {
        if !self.wants_picture() {
            return;
        }
        // Cut before anything is remembered: a hub is known by the name that the client sees.
        let wanted = states.iter().filter(|state| self.wanted(&state.hub));
        let states: Vec<HubState> = wanted.map(|state| state.clone().bounded()).collect();
        if self.phase == Phase::Live {
            self.update(seq, now, states);
        } else {
            self.snapshot(seq, now, states);
            self.phase = Phase::Live;
        }
    }

    fn wanted(&self, hub: &str) -> bool {
        wants(&self.hubs, hub)
    }

    fn snapshot(&mut self, seq: u64, now: u64, states: Vec<HubState>) {
        let mut chunk = SnapshotChunk { boot: self.boot.clone(), as_of: seq, ..Default::default() };
        let mut bytes = CHUNK_FRAME;
        for state in states {
            let size = serde_json::to_string(&state).map_or(0, |text| text.len() + 1);
            if bytes + size > MAX_CHUNK && !chunk.hubs.is_empty() {
                let number = chunk.chunk;
                self.lane.extend(encode(&Frame::Snapshot(chunk)).ok());
                let boot = self.boot.clone();
                chunk = SnapshotChunk { boot, as_of: seq, chunk: number + 1, ..Default::default() };
                bytes = CHUNK_FRAME;
            }
            bytes += size;
            let sent = Sent { state: state.clone(), at: now, pending: None };
            self.sent.insert(state.hub.clone(), sent);
            chunk.hubs.push(state);
        }
        chunk.last = true;
        self.push(&Frame::Snapshot(chunk));
    }

    fn update(&mut self, seq: u64, now: u64, states: Vec<HubState>) {
        let there: HashSet<String> = states.iter().map(|state| state.hub.clone()).collect();
        for state in states {
            self.removed.remove(&state.hub);
            let Some(sent) = self.sent.get_mut(&state.hub) else {
                self.sent.insert(state.hub.clone(), Sent { state, at: now, pending: Some(seq) });
                continue;
            };
            if sent.pending.is_some() {
                sent.state = state;
                sent.pending = Some(seq);
                continue;
            }
            let waited = now.saturating_sub(sent.at);
            let changed = waited >= self.interval && !sent.state.same_but_ages(&state);
            if changed || waited >= REFRESH_MICROS {
                *sent = Sent { state, at: now, pending: Some(seq) };
            }
        }
        let gone: Vec<String> = self.sent.keys().filter(|hub| !there.contains(*hub)).cloned().collect();
        for hub in gone {
            self.sent.remove(&hub);
            self.removed.insert(hub, seq);
        }
    }

    /// True if the next [`Self::fates`] will be used: the client asked for finished trails and has
    /// its picture.
    pub fn follows_fates(&self) -> bool {
        self.phase == Phase::Live && self.fates.is_some()
    }

    /// Offers finished trails. Batches join without a hole; the first one says where the client
    /// begins to follow.
    pub fn fates(&mut self, batch: &FateBatch) {
        if self.phase == Phase::Live {
            let hubs = &self.hubs;
            if let Some(fates) = &mut self.fates {
                fates.offer(batch, |hub| wants(hubs, hub));
            }
        }
    }

    /// Queues a sign of life; one that still waits is replaced.
    pub fn heartbeat(&mut self, mut beat: Heartbeat) {
        if self.phase == Phase::Live {
            beat.boot.clone_from(&self.boot);
            self.heartbeat = Some(beat);
        }
    }

    /// Queues news of a loss; one that still waits is widened.
    pub fn gap(&mut self, mut gap: Gap) {
        if self.phase != Phase::Live {
            return;
        }
        gap.boot.clone_from(&self.boot);
        match &mut self.gap {
            Some(waiting) => {
                waiting.from = waiting.from.min(gap.from);
                waiting.to = waiting.to.max(gap.to);
                waiting.count = waiting.count.saturating_add(gap.count);
            }
            None => self.gap = Some(gap),
        }
    }

    /// Ends the session: what waits is dropped, a goodbye with the reason is the last line.
    pub fn close(&mut self, reason: ByeReason, text: &str) {
        if self.phase == Phase::Closing {
            return;
        }
        self.phase = Phase::Closing;
        self.lane.clear();
        self.heartbeat = None;
        self.gap = None;
        self.sent.clear();
        self.removed.clear();
        self.fates = None;
        self.reason = Some((reason, text.to_owned()));
        let (boot, text) = (self.boot.clone(), text.to_owned());
        self.push(&Frame::Bye(Bye { boot, reason, text }));
    }

    /// Why the session ended, once it did.
    pub fn reason(&self) -> Option<&(ByeReason, String)> {
        self.reason.as_ref()
    }

    /// True once the goodbye has been handed out.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Closing && self.lane.is_empty()
    }

    /// The next line to write, newline included.
    pub fn next_line(&mut self) -> Option<String> {
        if let Some(line) = self.lane.pop_front() {
            return Some(line);
        }
        if let Some(gap) = self.gap.take() {
            return encode(&Frame::Gap(gap)).ok();
        }
        if let Some(beat) = self.heartbeat.take() {
            return encode(&Frame::Heartbeat(beat)).ok();
        }
        if let Some((hub, seq)) = self.removed.pop_first() {
            let boot = self.boot.clone();
            return encode(&Frame::Removed(Removed { boot, seq, hub })).ok();
        }
        // By turns, so that neither holds up the other.
        if self.state_last {
            self.next_fate().or_else(|| self.next_state())
        } else {
            self.next_state().or_else(|| self.next_fate())
        }
    }

    fn next_fate(&mut self) -> Option<String> {
        let next = self.fates.as_mut()?.next(&self.boot)?;
        self.state_last = false;
        let frame = match next {
            Next::Fate(fate) => Frame::Fate(fate),
            Next::Gap(gap) => Frame::FateGap(gap),
        };
        encode(&frame).ok()
    }

    fn next_state(&mut self) -> Option<String> {
        let after = (std::ops::Bound::Excluded(self.cursor.clone()), std::ops::Bound::Unbounded);
        let waiting = |(hub, sent): (&String, &Sent)| sent.pending.map(|_| hub.clone());
        let hub = self.sent.range(after).find_map(waiting).or_else(|| self.sent.iter().find_map(waiting))?;
        let sent = self.sent.get_mut(&hub)?;
        let seq = sent.pending.take()?;
        let frame = StateFrame { boot: self.boot.clone(), seq, hub: sent.state.clone() };
        self.cursor = hub;
        self.state_last = true;
        encode(&Frame::State(frame)).ok()
    }

    fn push(&mut self, frame: &Frame) {
        self.lane.extend(encode(frame).ok());
    }
}

fn wants(globs: &[String], hub: &str) -> bool {
    globs.is_empty() || globs.iter().any(|glob| glob_matches(glob, hub))
}

fn name_of(frame: &Frame) -> &'static str {
    match frame {
        Frame::Hello(_) => "hello",
        Frame::Subscribe(_) => "subscribe",
        Frame::Snapshot(_) => "snapshot",
        Frame::State(_) => "state",
        Frame::Removed(_) => "removed",
        Frame::Heartbeat(_) => "heartbeat",
        Frame::Gap(_) => "gap",
        Frame::Bye(_) => "bye",
        Frame::Fate(_) => "fate",
        Frame::FateGap(_) => "fate-gap",
    }
}
