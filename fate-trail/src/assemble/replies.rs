//! Replies: what became of an answer, told on the trail of the question.

use std::collections::HashMap;

use crate::limits::REPLIES;
use crate::trail::{Reply, Trail};

/// What [`fold`] made of some trails.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Folded {
    /// The trails that are left, in their order, requests with their replies.
    pub trails: Vec<Trail>,
    /// Replies that stand on the trail of their request now.
    pub folded: u64,
    /// Replies that stayed trails of their own because their request has [`REPLIES`] already.
    pub surplus: u64,
    /// Replies that stayed trails of their own because no request is there, or a reply could not
    /// carry all that they say.
    pub apart: u64,
}

/// Folds trails of replies onto the trails of their requests. `request_of` tells the id of the
/// request where a trail is that of a reply; what correlates the two is known to whoever sent them.
///
/// Replies are numbered in their order here. One whose request is a reply itself stays a trail of its
/// own, since a reply carries none. Nothing is thrown away.
pub fn fold(trails: Vec<Trail>, request_of: impl Fn(&Trail) -> Option<String>) -> Folded {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, trail) in trails.iter().enumerate() {
        places.entry(&trail.id).or_insert(at);
    }
    let asked: Vec<Option<String>> = trails.iter().map(request_of).collect();
    let place = |at: usize| {
        let request = places.get(asked[at].as_deref()?).copied()?;
        (request != at).then_some(request)
    };
    let requests: Vec<Option<usize>> =
        (0..trails.len()).map(|at| place(at).filter(|request| asked[*request].is_none())).collect();
    let mut folded = Folded::default();
    let mut trails: Vec<Option<Trail>> = trails.into_iter().map(Some).collect();
    for at in (0..trails.len()).filter(|at| asked[*at].is_some()) {
        let reply = trails[at].take();
        let request = requests[at].and_then(|request| trails[request].as_mut());
        let full = request.as_ref().is_some_and(|request| request.replies.len() >= REPLIES);
        let added = request.zip(reply.as_ref()).is_some_and(|(request, reply)| request.add_reply(reply));
        if added {
            folded.folded += 1;
            continue;
        }
        trails[at] = reply;
        if full {
            folded.surplus += 1;
        } else {
            folded.apart += 1;
        }
    }
    folded.trails = trails.into_iter().flatten().collect();
    folded
}

impl Trail {
    /// Puts the stages of a reply's own trail onto this one, as its next reply. Offsets then count from
    /// this trail's first stage; they are unknown where one of the two has no `at`, or the reply's is
    /// the earlier one, which is how clocks of two machines show.
    ///
    /// False, and nothing changes, where there are [`REPLIES`] already or the reply has replies or a
    /// verdict of its own, which a reply cannot carry.
    pub fn add_reply(&mut self, reply: &Trail) -> bool {
        if self.replies.len() >= REPLIES || !reply.replies.is_empty() || reply.verdict.is_some() {
            return false;
        }
        let behind = self.at.zip(reply.at).and_then(|(own, its)| u64::try_from(its.checked_sub(own)?).ok());
        let mut stages = reply.stages.clone();
        for stage in &mut stages {
            stage.offset = stage.offset.zip(behind).map(|(offset, behind)| offset.saturating_add(behind));
        }
        let number = self.replies.iter().map(|reply| reply.number).max().unwrap_or(0).saturating_add(1);
        self.replies.push(Reply { number, stages, gap: reply.gap });
        true
    }
}
