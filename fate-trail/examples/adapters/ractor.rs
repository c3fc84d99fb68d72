//! Fate trails for [ractor](https://docs.rs/ractor): let the actor's messages be `Carried<M>`, send
//! them with [`send`], and end each turn with [`end`]. Copy this file.

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

/// Ends the turn of a handler with its result, the last thing of the actor's own `handle`:
///
/// ```ignore
/// async fn handle(&self, _: ActorRef<Carried<Order>>, order: Carried<Order>, stock: &mut Stock)
///     -> Result<(), ActorProcessingErr>
/// {
///     let (order, turn) = order.enter();
///     end(turn, stock.reserve(order).await)
/// }
/// ```
///
/// An error ends the trail as failed and goes on to the actor's supervisor.
#[inline]
pub fn end(turn: Turn, result: Result<(), ActorProcessingErr>) -> Result<(), ActorProcessingErr> {
    if let Err(error) = &result {
        turn.fail(&error.to_string());
    }
    result
}
