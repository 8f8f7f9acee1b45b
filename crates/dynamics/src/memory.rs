//! The memory of integrators: typed records with a kind and a version.

use lilyan_solve::newton::SolverMemory;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::Any;
use std::sync::Arc;

/// A record of what an integrator remembers between steps.
pub trait MemoryRecord: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The kind of integrator.
    const KIND: &'static str;
    /// The format version. Raise it with every change of the fields.
    const VERSION: u32;
}

/// The memory of an integrator: a record whose type only the integrator knows.
///
/// A copy in memory stays a typed value, and becomes bytes only when it is serialised. A checkpoint file contains the kind, the
/// version and the record, with all numbers to the bit.
#[derive(Clone)]
pub struct Memory(Content);

#[derive(Clone)]
enum Content {
    Live(Arc<dyn Record>),
    Stored(Arc<Stored>),
}

/// A serialised record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stored {
    kind: String,
    version: u32,
    bytes: Vec<u8>,
}

/// A [`MemoryRecord`] whose type is not known.
trait Record: Any + Send + Sync {
    fn stored(&self) -> Result<Stored, postcard::Error>;
    fn kind(&self) -> &'static str;
}

impl<T: MemoryRecord> Record for T {
    fn stored(&self) -> Result<Stored, postcard::Error> {
        Ok(Stored { kind: T::KIND.into(), version: T::VERSION, bytes: postcard::to_stdvec(self)? })
    }

    fn kind(&self) -> &'static str {
        T::KIND
    }
}

/// Why a memory cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// It belongs to another kind of integrator.
    #[error(
        "the memory belongs to an integrator of kind \"{found}\", not \"{expected}\"; start the run anew"
    )]
    Kind {
        /// The kind of the integrator that reads.
        expected: &'static str,
        /// The kind of the memory.
        found: String,
    },
    /// Another version of the program wrote it.
    #[error(
        "the memory of integrators of kind \"{kind}\" has version {found}, and this program reads version {expected}; \
         start the run anew, or continue it with the version of lilyan that wrote it"
    )]
    Version {
        /// The kind of integrator.
        kind: &'static str,
        /// The version that this program reads.
        expected: u32,
        /// The version of the memory.
        found: u32,
    },
    /// Its bytes are not a record of its kind and version.
    #[error("the memory of an integrator of kind \"{kind}\" is damaged; start the run anew")]
    Damaged {
        /// The kind of integrator.
        kind: &'static str,
    },
}

impl Memory {
    /// The memory with this record.
    pub fn new<T: MemoryRecord>(record: T) -> Self {
        Self(Content::Live(Arc::new(record)))
    }

    /// The record.
    pub fn read<T: MemoryRecord>(&self) -> Result<T, MemoryError> {
        let kind = T::KIND;
        match &self.0 {
            Content::Live(record) => {
                let found = record.kind();
                let any: &dyn Any = record.as_ref();
                any.downcast_ref::<T>()
                    .cloned()
                    .ok_or_else(|| MemoryError::Kind { expected: kind, found: found.into() })
            }
            Content::Stored(stored) if stored.kind != kind => {
                Err(MemoryError::Kind { expected: kind, found: stored.kind.clone() })
            }
            Content::Stored(stored) if stored.version != T::VERSION => {
                Err(MemoryError::Version { kind, expected: T::VERSION, found: stored.version })
            }
            Content::Stored(stored) => match postcard::take_from_bytes(&stored.bytes) {
                Ok((record, [])) => Ok(record),
                _ => Err(MemoryError::Damaged { kind }),
            },
        }
    }

    fn stored(&self) -> Result<Stored, postcard::Error> {
        match &self.0 {
            Content::Live(record) => record.stored(),
            Content::Stored(stored) => Ok(stored.as_ref().clone()),
        }
    }
}

impl Default for Memory {
    /// The memory of a method without memory.
    fn default() -> Self {
        Self::new(Nothing {})
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        self.stored() == other.stored()
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.stored().fmt(f)
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.stored().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Stored::deserialize(deserializer).map(|stored| Self(Content::Stored(Arc::new(stored))))
    }
}

/// The empty memory.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Nothing {}

impl MemoryRecord for Nothing {
    const KIND: &'static str = "no memory";
    const VERSION: u32 = 1;
}

/// The memory of methods that remember the linear solver only.
impl MemoryRecord for SolverMemory {
    const KIND: &'static str = "linear solves";
    const VERSION: u32 = 2;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Old {
        x: f64,
    }
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct New {
        x: f64,
        list: Vec<f64>,
    }
    impl MemoryRecord for Old {
        const KIND: &'static str = "sample";
        const VERSION: u32 = 1;
    }
    impl MemoryRecord for New {
        const KIND: &'static str = "sample";
        const VERSION: u32 = 2;
    }

    fn through_bytes(memory: &Memory) -> Memory {
        postcard::from_bytes(&postcard::to_stdvec(memory).unwrap()).unwrap()
    }

    #[test]
    fn a_record_comes_back_to_the_bit() {
        let list = vec![
            -0.0,
            f64::MIN_POSITIVE / 4.0,
            f64::INFINITY,
            0.1 + 0.2,
            f64::from_bits(0x7ff8_dead_beef_0001),
        ];
        let record = New { x: f64::NAN, list };
        let bits =
            |record: &New| record.list.iter().chain([&record.x]).map(|x| x.to_bits()).collect::<Vec<_>>();
        let live = Memory::new(record.clone());
        assert_eq!(bits(&live.read().unwrap()), bits(&record));
        assert_eq!(bits(&through_bytes(&live).read().unwrap()), bits(&record));
        assert_eq!(live, through_bytes(&live));
    }

    #[test]
    fn another_version_and_another_kind_are_refused_with_the_remedy() {
        let old = through_bytes(&Memory::new(Old { x: 1.0 }));
        let error = old.read::<New>().unwrap_err();
        assert_eq!(error, MemoryError::Version { kind: "sample", expected: 2, found: 1 });
        let text = error.to_string();
        assert!(text.contains("version 1") && text.contains("start the run anew"), "{text}");
        for memory in [Memory::default(), through_bytes(&Memory::default())] {
            let error = memory.read::<New>().unwrap_err();
            assert_eq!(error, MemoryError::Kind { expected: "sample", found: "no memory".into() });
        }
    }

    #[test]
    fn damage_is_noticed() {
        let Ok(stored) = Memory::new(New { x: 1.0, list: vec![2.0] }).stored() else { panic!() };
        let cut = Stored { bytes: stored.bytes[..stored.bytes.len() - 1].to_vec(), ..stored.clone() };
        let longer = Stored { bytes: [&stored.bytes[..], &[0]].concat(), ..stored };
        for wrong in [cut, longer] {
            let memory = Memory(Content::Stored(Arc::new(wrong)));
            assert_eq!(memory.read::<New>(), Err(MemoryError::Damaged { kind: "sample" }));
        }
    }
}
