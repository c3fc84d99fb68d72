//! The adapters of `../examples/adapters`, mounted here because the libraries that they are for do not belong
//! among the dependencies of `fate-trail` itself.

#[path = "../../examples/adapters/kameo.rs"]
pub mod kameo;
#[path = "../../examples/adapters/ractor.rs"]
pub mod ractor;
#[path = "../../examples/adapters/tokio_channel.rs"]
pub mod tokio_channel;
#[path = "../../examples/adapters/tower.rs"]
pub mod tower;
