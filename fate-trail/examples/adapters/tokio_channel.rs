//! Fate trails for a bare [tokio](https://docs.rs/tokio) channel: [`channel`] in place of
//! `mpsc::channel`. Copy this file.

use fate_trail::DeliveryId;
use fate_trail::carry::{Carried, Mailbox, Turn};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;

/// The sending half; clones send to the same receiver.
#[derive(Clone, Debug)]
pub struct Sender<T> {
    mailbox: &'static Mailbox,
    inner: mpsc::Sender<Carried<T>>,
}

/// The receiving half.
#[derive(Debug)]
pub struct Receiver<T>(mpsc::Receiver<Carried<T>>);

/// A bounded channel whose values carry trails.
pub fn channel<T>(mailbox: &'static Mailbox, buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (inner, receiver) = mpsc::channel(buffer);
    (Sender { mailbox, inner }, Receiver(receiver))
}

impl<T> Sender<T> {
    /// Sends a value and begins its trail. The error gives the value back.
    pub fn send(
        &self,
        id: impl Into<DeliveryId>,
        value: T,
    ) -> impl Future<Output = Result<(), SendError<Carried<T>>>> {
        self.inner.send(Carried::new(self.mailbox, id, value))
    }
}

impl<T> Receiver<T> {
    /// Receives the next value; its turn lasts until the second half of the pair is dropped.
    pub async fn recv(&mut self) -> Option<(T, Turn)> {
        self.0.recv().await.map(Carried::enter)
    }
}
