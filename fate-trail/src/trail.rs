//! One delivery's stages in order.

/// Placeholder of the owned trail; replaced by the trail work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {}
