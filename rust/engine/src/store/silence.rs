//! Responses whose server sends nothing for too long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use object_store::client::{HttpError, HttpErrorKind, HttpResponseBody};

use crate::runtime::environment::Timer;

/// Return the error of a server that sent nothing for this long; such a request is repeated if it is idempotent.
pub(super) fn silent(wait: Duration) -> HttpError {
    let reason = format!("the server sent nothing for {:.1} seconds", wait.as_secs_f64());
    HttpError::new(HttpErrorKind::Timeout, io::Error::new(io::ErrorKind::TimedOut, reason))
}

/// The body of a response, which fails if the server sends nothing for too long.
///
/// Only the wait for the server counts: a reader may pause between two frames.
#[derive(Debug)]
pub(super) struct Bounded {
    body: HttpResponseBody,
    silence: Duration,
    timer: Timer,
}

impl Bounded {
    pub(super) fn new(body: HttpResponseBody, silence: Duration) -> Self {
        Self { body, silence, timer: Timer::default() }
    }
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.timer.stop();
            return Poll::Ready(frame);
        }
        ready!(this.timer.poll(this.silence, context));
        Poll::Ready(Some(Err(silent(this.silence))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
