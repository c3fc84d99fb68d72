//! Fate trails for [kameo](https://docs.rs/kameo): wrap the actor in [`Traced`], and tell it messages
//! with [`tell`]. Copy this file.

use std::convert::Infallible;
use std::future::Future;

use fate_trail::DeliveryId;
use fate_trail::carry::{Carried, Mailbox};
use kameo::Actor;
use kameo::actor::ActorRef;
use kameo::error::SendError;
use kameo::message::{Context, Message};

/// What a traced actor does with one kind of message; stands in for `Message`.
pub trait Handles<M>: Send + 'static {
    /// Handles one message; an error ends its trail as failed.
    fn handle(&mut self, message: M) -> impl Future<Output = Result<(), String>> + Send;
}

/// An actor whose messages carry trails.
#[derive(Debug)]
pub struct Traced<A>(pub A);

impl<A: Send + 'static> Actor for Traced<A> {
    type Args = A;
    type Error = Infallible;

    async fn on_start(actor: A, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(Traced(actor))
    }
}

impl<A: Handles<M>, M: Send + 'static> Message<Carried<M>> for Traced<A> {
    type Reply = ();

    async fn handle(&mut self, message: Carried<M>, _: &mut Context<Self, ()>) {
        let (message, turn) = message.enter();
        if let Err(error) = self.0.handle(message).await {
            turn.fail(&error);
        }
    }
}

/// Tells an actor a message and begins its trail. The error gives the message back.
pub async fn tell<A: Handles<M>, M: Send + 'static>(
    actor: &ActorRef<Traced<A>>,
    mailbox: &'static Mailbox,
    id: impl Into<DeliveryId>,
    message: M,
) -> Result<(), SendError<Carried<M>>> {
    actor.tell(Carried::new(mailbox, id, message)).await
}
