//! From what was recorded to owned trails; runs only when somebody reads.

use std::collections::HashMap;

use super::{HubEvent, Recorder};
use crate::entry::{Entry, RawTrail};
use crate::limits::HEAD_ENTRIES;
use crate::names::{HubId, UNKNOWN};
use crate::stage::{DetailKind, StageId, Unpacked, read, unpack};
use crate::text::Value;
use crate::trail::{Gap, Stage, Trail};

/// The id of a hub's own trail.
const HUB_TRAIL: &str = "hub";

impl Recorder {
    pub(super) fn render(&self, raw: &RawTrail) -> Trail {
        let stages = raw.kept().map(|entry| self.entry(entry));
        Trail {
            id: raw.id.to_string(),
            at: Some(self.wall(raw.base)),
            stages: stages.collect(),
            gap: (raw.missing() > 0).then(|| Gap { after: HEAD_ENTRIES, count: u64::from(raw.missing()) }),
            ..Trail::default()
        }
    }

    /// One recorded stage of a delivery.
    pub(crate) fn entry(&self, entry: Entry) -> Stage {
        let Some(stage) = StageId::from_index(entry.stage) else {
            // Entries are made from stage ids, so this is a recorder of another build.
            return Stage::new(UNKNOWN, self.hub_name(HubId(entry.hub)));
        };
        self.stage(stage, HubId(entry.hub), entry.offset(), unpack(stage, entry.value))
    }

    /// One trail for each hub; `lost` tells by the index of its name how many of its stages were
    /// overwritten.
    pub(super) fn render_hubs(&self, events: &[HubEvent], lost: &[u32]) -> Vec<Trail> {
        let mut by_hub: Vec<(HubId, Vec<&HubEvent>)> = Vec::new();
        let mut places: HashMap<HubId, usize> = HashMap::new();
        for event in events {
            let place = *places.entry(event.hub).or_insert(by_hub.len());
            match by_hub.get_mut(place) {
                Some((_, own)) => own.push(event),
                None => by_hub.push((event.hub, vec![event])),
            }
        }
        let trail = |(hub, own): (HubId, Vec<&HubEvent>)| {
            let lost = lost.get(usize::from(hub.index())).copied().unwrap_or(0);
            self.render_hub(hub, &own, u64::from(lost))
        };
        by_hub.into_iter().map(trail).collect()
    }

    fn render_hub(&self, hub: HubId, events: &[&HubEvent], lost: u64) -> Trail {
        let start = events.iter().find_map(|event| event.time);
        let stages = events.iter().map(|event| {
            let since = |(now, start): (u64, u64)| now.saturating_sub(start);
            let offset = event.time.zip(start).map(since);
            let details = event.stage.spec().details.iter().zip(event.values);
            let details = details.map(|(detail, value)| read(detail, value));
            self.stage(event.stage, hub, offset, details)
        });
        Trail {
            id: HUB_TRAIL.to_owned(),
            at: start.map(|start| self.wall(start)),
            stages: stages.collect(),
            gap: (lost > 0).then_some(Gap { after: 0, count: lost }),
            ..Trail::default()
        }
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

    pub(super) fn hub_name(&self, hub: HubId) -> String {
        self.0.hubs.text(hub.0).to_string()
    }
}
