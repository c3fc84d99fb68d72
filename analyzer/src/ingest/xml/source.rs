//! What the XML parser reads from: counts lines, finds trails on the way, and keeps any single
//! token (a tag, a stretch of text, a comment) from growing without bound.

use std::io::{self, BufRead, Read};

use memchr::memchr_iter;

use crate::ingest::FoundTrail;
use crate::ingest::trails;
use crate::limits;

/// What the token that is being read will end with, told by its first bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token {
    Text,
    Cdata,
    Comment,
    /// A tag, instruction or document type: cannot be shortened without changing its meaning.
    Markup,
}

/// A bounded view of one document.
pub(super) struct Source<R> {
    inner: R,
    line: u64,
    /// Bytes of the inner buffer that the trail search has seen.
    searched: usize,
    search: trails::Search,
    /// The first bytes of the current token and its length so far.
    first: [u8; 9],
    token_len: usize,
    /// Served before anything else: the end of a token whose middle was dropped.
    pending: &'static [u8],
    dropped: u64,
    refused: bool,
}

impl<R: BufRead> Source<R> {
    /// A source whose first line is `line` of the file.
    pub(super) fn new(inner: R, line: u64) -> Source<R> {
        Source {
            inner,
            line,
            searched: 0,
            search: trails::Search::new(line),
            first: [0; 9],
            token_len: 0,
            pending: &[],
            dropped: 0,
            refused: false,
        }
    }

    /// The line of the next byte, 1-based.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// To be called between two events: the limit holds for one token.
    pub(super) fn next_token(&mut self) {
        self.token_len = 0;
    }

    /// Bytes dropped from the middle of over-long text.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// True where the document was given up because one tag exceeds the limit.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// The trails found so far.
    pub(super) fn take_trails(&mut self) -> Vec<FoundTrail> {
        self.search.take()
    }

    fn token(&self) -> Token {
        let first = &self.first[..self.token_len.min(9)];
        match first {
            b"<![CDATA[" => Token::Cdata,
            [b'<', b'!', b'-', b'-', ..] => Token::Comment,
            [b'<', ..] => Token::Markup,
            _ => Token::Text,
        }
    }

    /// Drops the rest of an over-long token up to its end, which is served from `pending`.
    fn skip_rest(&mut self) -> io::Result<()> {
        let (last, before, end): (u8, u8, &'static [u8]) = match self.token() {
            Token::Text => (b'<', 0, b""),
            Token::Cdata => (b'>', b']', b"]]>"),
            Token::Comment => (b'>', b'-', b"-->"),
            Token::Markup => {
                self.refused = true;
                return Ok(());
            }
        };
        let mut previous = [0_u8; 2];
        loop {
            let chunk = self.fill_inner()?;
            if chunk.is_empty() {
                return Ok(());
            }
            let found = memchr_iter(last, chunk).find(|&i| {
                let back = |n: usize| if i >= n { chunk[i - n] } else { previous[2 - (n - i)] };
                before == 0 || (back(1) == before && back(2) == before)
            });
            // Text ends before its `<`; the others end with their `>`.
            let n = found.map_or(chunk.len(), |i| if before == 0 { i } else { i + 1 });
            for &b in &chunk[n.saturating_sub(2)..n] {
                previous = [previous[1], b];
            }
            self.dropped += n as u64;
            self.consume_inner(n);
            if found.is_some() {
                self.pending = end;
                self.token_len = 0;
                return Ok(());
            }
        }
    }

    fn fill_inner(&mut self) -> io::Result<&[u8]> {
        let chunk = self.inner.fill_buf()?;
        if self.searched == 0 && !chunk.is_empty() {
            self.search.block(chunk);
            self.searched = chunk.len();
        } else if chunk.is_empty() {
            self.search.end();
        }
        Ok(chunk)
    }

    fn consume_inner(&mut self, n: usize) {
        if let Ok(chunk) = self.inner.fill_buf() {
            self.line += memchr_iter(b'\n', &chunk[..n.min(chunk.len())]).count() as u64;
        }
        self.searched = self.searched.saturating_sub(n);
        self.inner.consume(n);
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.pending.is_empty() && self.token_len >= limits::XML_TOKEN_MAX && !self.refused {
            self.skip_rest()?;
        }
        if self.refused {
            return Ok(&[]);
        }
        if !self.pending.is_empty() {
            return Ok(self.pending);
        }
        let room = limits::XML_TOKEN_MAX.saturating_sub(self.token_len).max(1);
        let chunk = self.fill_inner()?;
        let n = chunk.len().min(room);
        Ok(&chunk[..n])
    }

    fn consume(&mut self, n: usize) {
        if !self.pending.is_empty() {
            self.pending = self.pending.get(n..).unwrap_or(&[]);
            return;
        }
        if self.token_len < self.first.len()
            && let Ok(chunk) = self.inner.fill_buf()
        {
            for (slot, &b) in self.first[self.token_len..].iter_mut().zip(&chunk[..n.min(chunk.len())]) {
                *slot = b;
            }
        }
        self.token_len += n;
        self.consume_inner(n);
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let n = from.len().min(to.len());
        to[..n].copy_from_slice(&from[..n]);
        self.consume(n);
        Ok(n)
    }
}
