//! Fate trails for [tower](https://docs.rs/tower): [`Enter`] wraps the service that handles, [`post`]
//! whatever stands in front of it, such as a `Buffer`. Copy this file.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fate_trail::carry::{Carried, Mailbox, Turn};
use tower::util::MapRequest;
use tower::{Service, ServiceExt};

/// Begins the trail of each request on its way into `service`; `id` tells them apart.
pub fn post<S, R>(
    service: S,
    mailbox: &'static Mailbox,
    mut id: impl FnMut(&R) -> u64,
) -> MapRequest<S, impl FnMut(R) -> Carried<R>>
where
    S: Service<Carried<R>>,
{
    service.map_request(move |request| Carried::new(mailbox, id(&request), request))
}

/// Takes requests out of their queue for the service that handles them.
#[derive(Clone, Debug)]
pub struct Enter<S>(pub S);

impl<S: Service<R>, R> Service<Carried<R>> for Enter<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = InTurn<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Carried<R>) -> InTurn<S::Future> {
        let (request, turn) = request.enter();
        InTurn { inner: self.0.call(request), turn: Some(turn) }
    }
}

pin_project_lite::pin_project! {
    /// A response on its way; its end is the end of the turn, and an error fails it.
    pub struct InTurn<F> { #[pin] inner: F, turn: Option<Turn> }
}

impl<F: Future<Output = Result<T, E>>, T, E> Future for InTurn<F> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T, E>> {
        let this = self.project();
        let result = ready!(this.inner.poll(cx));
        if let Some(turn) = this.turn.take().filter(|_| result.is_err()) {
            turn.fail("error response");
        }
        Poll::Ready(result)
    }
}
