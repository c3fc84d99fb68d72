//! From what was recorded to owned trails; runs only when somebody reads.

use super::{HubEvent, Recorder};
use crate::entry::RawTrail;
use crate::limits::HEAD_ENTRIES;
use crate::names::{HubId, UNKNOWN};
use crate::stage::{DetailKind, StageId, Unpacked, read, unpack};
use crate::text::Value;
use crate::trail::{Gap, Stage, Trail};

/// The id of a hub's own trail.
const HUB_TRAIL: &str = "hub";

impl Recorder {
    pub(super) fn render(&self, raw: &RawTrail) -> Trail {
        let stages = raw.kept().map(|entry| {
            let Some(stage) = StageId::from_index(entry.stage) else {
                // Entries are made from stage ids, so this is a recorder of another build.
                return Stage::new(UNKNOWN, self.hub_name(HubId(entry.hub)));
            };
            self.stage(stage, HubId(entry.hub), entry.offset(), unpack(stage, entry.value))
        });
        Trail {
            id: raw.id.to_string(),
            at: Some(self.wall(raw.base)),
            stages: stages.collect(),
            gap: (raw.missing() > 0).then(|| Gap { after: HEAD_ENTRIES, count: u64::from(raw.missing()) }),
            ..Trail::default()
        }
    }

    pub(super) fn render_hubs(&self, events: &[HubEvent]) -> Vec<Trail> {
        let mut trails: Vec<(HubId, Option<u64>, Trail)> = Vec::new();
        for event in events {
            let known = trails.iter().position(|(hub, ..)| *hub == event.hub);
            let index = known.unwrap_or_else(|| {
                trails.push((event.hub, None, Trail::new(HUB_TRAIL)));
                trails.len() - 1
            });
            let (_, start, trail) = &mut trails[index];
            if let (None, Some(now)) = (&start, event.time) {
                *start = Some(now);
                trail.at = Some(self.wall(now));
            }
            let offset = event.time.zip(*start).map(|(now, start)| now.saturating_sub(start));
            let details = event.stage.spec().details.iter().zip(event.values);
            let details = details.map(|(detail, value)| read(detail, value));
            trail.stages.push(self.stage(event.stage, event.hub, offset, details));
        }
        trails.into_iter().map(|(_, _, trail)| trail).collect()
    }

    fn stage(
        &self,
        stage: StageId,
        hub: HubId,
        offset: Option<u64>,
        details: impl Iterator<Item = Unpacked>,
    ) -> Stage {
        let details = details.map(|item| {
            let value = match item.detail.kind {
                DetailKind::Number if item.saturated => Value::at_least(item.value),
                DetailKind::Number => Value::from(item.value),
                DetailKind::GateSet | DetailKind::Symbol => {
                    let index = u16::try_from(item.value).unwrap_or(0);
                    Value::from_encoded(&self.0.symbols.text(index))
                }
            };
            (item.detail.key.to_owned(), value)
        });
        Stage { token: stage.token().to_owned(), hub: self.hub_name(hub), offset, details: details.collect() }
    }

    fn hub_name(&self, hub: HubId) -> String {
        self.0.hubs.text(hub.0).to_string()
    }
}
