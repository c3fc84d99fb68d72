//! From a hub's name to attributes of few values.

#[cfg(any(feature = "otel-metrics", feature = "otel-traces"))]
use {super::names, opentelemetry::KeyValue};

/// How hubs appear in attributes.
///
/// Ids do not belong into metrics: a thousand hubs `orders/1` … are one kind, `orders`.
#[derive(Clone, Copy, Debug)]
pub struct Naming {
    /// The kind of a hub of that name; it must have few values.
    pub kind: fn(&str) -> &str,
    /// Whether the hub's full name is an attribute too. Off by default: an SDK folds what exceeds
    /// its limit, most often 2 000 attribute sets, into one overflow point.
    pub hub_names: bool,
}

impl Default for Naming {
    fn default() -> Self {
        Naming { kind: up_to_slash, hub_names: false }
    }
}

impl Naming {
    /// The kind of a hub.
    pub fn kind<'a>(&self, hub: &'a str) -> &'a str {
        (self.kind)(hub)
    }

    /// System, destination and, where asked for, the hub's name: in this order everywhere.
    #[cfg(any(feature = "otel-metrics", feature = "otel-traces"))]
    pub(crate) fn attributes(&self, hub: &str) -> Vec<KeyValue> {
        let mut attributes = vec![
            KeyValue::new(names::MESSAGING_SYSTEM, names::SYSTEM),
            KeyValue::new(names::DESTINATION_TEMPLATE, self.kind(hub).to_owned()),
        ];
        if self.hub_names {
            attributes.push(KeyValue::new(names::DESTINATION_NAME, hub.to_owned()));
        }
        attributes
    }
}

/// `orders` of `orders/7`.
fn up_to_slash(hub: &str) -> &str {
    match hub.split_once('/') {
        Some((kind, _)) if !kind.is_empty() => kind,
        _ => hub,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hubs_kind_is_its_name_up_to_the_slash() {
        let naming = Naming::default();
        for (hub, kind) in [("orders/7", "orders"), ("orders", "orders"), ("a/b/c", "a"), ("/x", "/x")] {
            assert_eq!(naming.kind(hub), kind);
        }
    }

    #[cfg(any(feature = "otel-metrics", feature = "otel-traces"))]
    #[test]
    fn a_hubs_name_is_an_attribute_only_where_asked_for() {
        let naming = Naming::default();
        assert_eq!(naming.attributes("orders/7").len(), 2);
        assert_eq!(Naming { hub_names: true, ..naming }.attributes("orders/7").len(), 3);
    }
}
