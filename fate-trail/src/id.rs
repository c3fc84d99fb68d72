//! Delivery ids: what a trail is about, in a fixed 24 bytes, so that starting a trail copies and
//! never allocates.

use std::fmt;

/// Bytes of a text that are kept as they are.
const TEXT_BYTES: usize = 23;
/// Kinds beyond a text's length.
const NUMBER: u8 = 0xf0;
const UUID_DASHED: u8 = 0xf1;
const UUID_SIMPLE: u8 = 0xf2;
const NUMBERED: u8 = 0xf3;
/// Bytes of the name in a numbered id.
const PREFIX_BYTES: usize = 14;

/// Id of a delivery.
///
/// A text of up to 23 bytes, a number and a lower-case UUID (with or without dashes) keep every
/// character, and so does a name of up to 14 bytes with a `#` and a number. A longer text keeps its
/// beginning, a `~` and 16 hexadecimal digits of its FNV-1a hash, so that it stays one in practice.
/// Avoid the id `hub`: it names a hub's own trail.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DeliveryId {
    bytes: [u8; 24],
}

impl DeliveryId {
    /// The id of a text.
    pub fn new(text: &str) -> Self {
        if let Some(id) = uuid(text).or_else(|| numbered(text)) {
            return id;
        }
        let mut bytes = [0; 24];
        if text.len() <= TEXT_BYTES {
            bytes[0] = u8::try_from(text.len()).unwrap_or(0);
            bytes[1..=text.len()].copy_from_slice(text.as_bytes());
            return DeliveryId { bytes };
        }
        // 6 bytes of the text at most, the tilde and 16 digits.
        let head = (0..=6).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        let hash = fnv1a(text.as_bytes());
        bytes[1..=head].copy_from_slice(&text.as_bytes()[..head]);
        bytes[head + 1] = b'~';
        for (i, byte) in bytes[head + 2..head + 18].iter_mut().enumerate() {
            let digit = u8::try_from(hash >> (60 - 4 * i) & 15).unwrap_or(0);
            *byte = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        }
        bytes[0] = u8::try_from(head + 17).unwrap_or(0);
        DeliveryId { bytes }
    }

    /// The id of a number.
    #[inline]
    pub fn number(number: u64) -> Self {
        let mut bytes = [0; 24];
        bytes[0] = NUMBER;
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        DeliveryId { bytes }
    }

    /// The id `name#number`, in the time of a copy. Equal to the id of that text.
    #[inline]
    pub fn numbered(prefix: IdPrefix, number: u64) -> Self {
        let mut bytes = prefix.bytes;
        bytes[16..].copy_from_slice(&number.to_le_bytes());
        DeliveryId { bytes }
    }

    /// A key of 64 bits that tells ids apart in the per-thread rings: the number itself for a
    /// number, a hash for anything else.
    #[inline]
    pub fn key(&self) -> u64 {
        if self.bytes[0] == NUMBER { self.words()[1] } else { mix(self.words()) }
    }

    #[inline]
    pub(crate) fn words(&self) -> [u64; 3] {
        let mut words = [0; 3];
        for (word, chunk) in words.iter_mut().zip(self.bytes.chunks_exact(8)) {
            let mut raw = [0; 8];
            raw.copy_from_slice(chunk);
            *word = u64::from_le_bytes(raw);
        }
        words
    }

    pub(crate) fn from_words(words: [u64; 3]) -> Self {
        let mut bytes = [0; 24];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        DeliveryId { bytes }
    }
}

/// The name before the `#` of numbered ids, made once for each hub.
///
/// A name of up to 14 bytes is kept; a longer one keeps its beginning, a `~` and 8 hexadecimal digits
/// of its FNV-1a hash.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct IdPrefix {
    bytes: [u8; 24],
}

impl IdPrefix {
    /// The prefix of a name.
    pub fn new(name: &str) -> Self {
        if name.len() <= PREFIX_BYTES {
            return IdPrefix::of(name);
        }
        let head = (0..=PREFIX_BYTES - 9).rev().find(|i| name.is_char_boundary(*i)).unwrap_or(0);
        let hash = fnv1a(name.as_bytes()) >> 32;
        IdPrefix::of(&format!("{}~{hash:08x}", &name[..head]))
    }

    /// Of a name that fits.
    fn of(name: &str) -> Self {
        let mut bytes = [0; 24];
        bytes[0] = NUMBERED;
        bytes[1] = u8::try_from(name.len()).unwrap_or(0);
        bytes[2..2 + name.len()].copy_from_slice(name.as_bytes());
        IdPrefix { bytes }
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes[0] {
            NUMBER => write!(f, "{}", self.words()[1]),
            NUMBERED => {
                let name = &self.bytes[2..2 + usize::from(self.bytes[1]).min(PREFIX_BYTES)];
                write!(f, "{}#{}", String::from_utf8_lossy(name), self.words()[2])
            }
            kind @ (UUID_DASHED | UUID_SIMPLE) => {
                for (i, byte) in self.bytes[8..].iter().enumerate() {
                    if kind == UUID_DASHED && matches!(i, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
            len => {
                let text = &self.bytes[1..1 + usize::from(len).min(TEXT_BYTES)];
                f.write_str(&String::from_utf8_lossy(text))
            }
        }
    }
}

impl fmt::Debug for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveryId({self})")
    }
}

impl From<&str> for DeliveryId {
    fn from(text: &str) -> Self {
        DeliveryId::new(text)
    }
}

impl From<&String> for DeliveryId {
    fn from(text: &String) -> Self {
        DeliveryId::new(text)
    }
}

impl From<u64> for DeliveryId {
    #[inline]
    fn from(number: u64) -> Self {
        DeliveryId::number(number)
    }
}

/// A short name, `#` and a number that would come back unchanged.
fn numbered(text: &str) -> Option<DeliveryId> {
    let (name, digits) = text.rsplit_once('#')?;
    let canonical =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if name.len() > PREFIX_BYTES || !canonical {
        return None;
    }
    Some(DeliveryId::numbered(IdPrefix::of(name), digits.parse().ok()?))
}

/// Joins three words to one in which every bit counts: multiplication by an odd constant (2^64 over
/// the golden ratio) and rotation, as in Knuth's multiplicative hashing.
fn mix(words: [u64; 3]) -> u64 {
    let hash = words
        .into_iter()
        .fold(0, |hash: u64, word| (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    hash ^ hash >> 32
}

/// A UUID in lower case, the only case that would come back unchanged.
fn uuid(text: &str) -> Option<DeliveryId> {
    let kind = match text.len() {
        32 => UUID_SIMPLE,
        36 => UUID_DASHED,
        _ => return None,
    };
    let mut bytes = [0; 24];
    bytes[0] = kind;
    let mut digits = 0;
    for (i, c) in text.bytes().enumerate() {
        if kind == UUID_DASHED && matches!(i, 8 | 13 | 18 | 23) {
            if c != b'-' {
                return None;
            }
            continue;
        }
        let digit = match c {
            b'0'..=b'9' => c - b'0',
            b'a'..=b'f' => c - b'a' + 10,
            _ => return None,
        };
        bytes[8 + digits / 2] |= if digits % 2 == 0 { digit << 4 } else { digit };
        digits += 1;
    }
    Some(DeliveryId { bytes })
}

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo; draft-eastlake-fnv).
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_keep_their_text() {
        for text in [
            "",
            "7",
            "orders/7-42",
            "abcdefghijklmnopqrstuvw",
            "9f0c2f5e-3b1a-4c6e-8a77-0123456789ab",
            "9f0c2f5e3b1a4c6e8a770123456789ab",
        ] {
            assert_eq!(DeliveryId::new(text).to_string(), text);
        }
        assert_eq!(DeliveryId::number(u64::MAX).to_string(), u64::MAX.to_string());
    }

    #[test]
    fn long_ids_stay_apart() {
        let a = DeliveryId::new("a-long-prefix-that-both-share-1");
        let b = DeliveryId::new("a-long-prefix-that-both-share-2");
        assert_ne!(a, b);
        assert!(a.to_string().starts_with("a-long~"));
        assert_eq!(a.to_string().len(), 23);
    }

    #[test]
    fn a_numbered_id_is_the_id_of_its_text() {
        for (name, number) in [("orders/7", 12), ("", 0), ("a#b", 9), ("exactly14bytes", u64::MAX)] {
            let id = DeliveryId::numbered(IdPrefix::new(name), number);
            assert_eq!(id.to_string(), format!("{name}#{number}"));
            assert_eq!(DeliveryId::new(&id.to_string()), id);
        }
        for text in ["a#01", "a#", "a#+1", "a#18446744073709551616", "#"] {
            assert_eq!(DeliveryId::new(text).to_string(), text);
        }
        let long = |tail| DeliveryId::numbered(IdPrefix::new(&format!("a-shared-beginning-{tail}")), 7);
        assert_ne!(long("one"), long("two"));
        assert!(long("one").to_string().starts_with("a-sha~"));
        assert_eq!(DeliveryId::new(&long("one").to_string()), long("one"));
    }

    #[test]
    fn keys_of_neighbours_differ() {
        let prefixes = ["orders/1", "orders/2", "orders/21"].map(IdPrefix::new);
        let keys: std::collections::HashSet<u64> =
            (0..3000).map(|i| DeliveryId::numbered(prefixes[i as usize % 3], i / 3).key()).collect();
        assert_eq!(keys.len(), 3000);
    }

    #[test]
    fn size_is_what_the_slab_counts_on() {
        assert_eq!(size_of::<DeliveryId>(), 24);
    }

    proptest! {
        #[test]
        fn words_carry_every_id(text in any::<String>(), number in any::<u64>()) {
            for id in [DeliveryId::new(&text), DeliveryId::number(number)] {
                prop_assert_eq!(DeliveryId::from_words(id.words()), id);
            }
            if text.len() <= TEXT_BYTES {
                prop_assert_eq!(DeliveryId::new(&text).to_string(), text);
            }
        }
    }
}
