//! Fate trails for [ractor](https://docs.rs/ractor): let the actor's messages be `Carried<M>`, send
//! them with [`send`], and handle them through [`turn`]. Copy this file.

use fate_trail::DeliveryId;
use fate_trail::carry::{Carried, Mailbox, Turn};
use ractor::{ActorProcessingErr, ActorRef, Message, MessagingErr};

/// Sends an actor a message and begins its trail. The error gives the message back.
pub fn send<M>(
    actor: &ActorRef<Carried<M>>,
    mailbox: &'static Mailbox,
    id: impl Into<DeliveryId>,
    message: M,
) -> Result<(), MessagingErr<Carried<M>>>
where
    Carried<M>: Message,
{
    actor.send_message(Carried::new(mailbox, id, message))
}

/// Runs a handler on a message out of the mailbox, in the actor's own `handle`:
///
/// ```ignore
/// async fn handle(&self, _: ActorRef<Carried<Order>>, order: Carried<Order>, stock: &mut Stock)
///     -> Result<(), ActorProcessingErr>
/// {
///     turn(order, async |order, _| stock.reserve(order)).await
/// }
/// ```
///
/// An error ends the trail as failed and goes on to the actor's supervisor.
pub async fn turn<M>(
    message: Carried<M>,
    handler: impl AsyncFnOnce(M, &mut Turn) -> Result<(), ActorProcessingErr>,
) -> Result<(), ActorProcessingErr> {
    let (message, mut turn) = message.enter();
    let result = handler(message, &mut turn).await;
    if let Err(error) = &result {
        turn.fail(&error.to_string());
    }
    result
}
