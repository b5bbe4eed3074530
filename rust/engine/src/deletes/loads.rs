//! Delete files of a data file, loaded several at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::files::DeleteFiles;
use crate::bytes::data_file::Opening;
use crate::error::Result;
use crate::pipeline::Work;
use crate::runtime::executor::waiting;

/// What is loaded once, by whoever comes first. A clone has what is loaded by then.
pub(crate) struct Loaded<T> {
    value: OnceLock<Result<T>>,
    claimed: AtomicBool,
    loading: AtomicBool,
}

impl<T> Default for Loaded<T> {
    fn default() -> Self {
        Self {
            value: OnceLock::new(),
            claimed: AtomicBool::default(),
            loading: AtomicBool::default(),
        }
    }
}

impl<T: Clone> Clone for Loaded<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), ..Self::default() }
    }
}

impl<T: Clone> Loaded<T> {
    /// Take it on to load the value; false if it is loaded, or somebody else took that on.
    pub(crate) fn claim(&self) -> bool {
        self.value.get().is_none() && !self.claimed.swap(true, Ordering::AcqRel)
    }

    /// The value, loaded now if it is not. Waits for a thread that is loading it.
    pub(crate) fn get(&self, load: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(value) = self.value.get() {
            return value.clone();
        }
        let value = match self.loading.swap(true, Ordering::AcqRel) {
            false => self.value.get_or_init(load),
            true => waiting(|| self.value.get_or_init(load)),
        };
        value.clone()
    }
}

/// Numbers of delete files or of groups of them.
pub(crate) enum Loads {
    Positions(Vec<usize>),
    Keys(Vec<usize>),
}

impl Loads {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Positions(numbers) | Self::Keys(numbers) => numbers.len(),
        }
    }
}

impl Work for (Arc<DeleteFiles>, Loads) {
    type Unit = ();
    type Item = ();
    const NEEDED_WHOLE: bool = true;

    fn tasks(&self) -> usize {
        self.1.len()
    }

    fn expect(&self, task: usize) -> Option<Opening> {
        let Loads::Positions(files) = &self.1 else { return None };
        let (io, file) = self.0.file(*files.get(task)?)?;
        Opening::of(io, &file.location)
    }

    fn prepare(&self, task: usize, opening: Option<Opening>) -> Result<Vec<()>> {
        let (deletes, loads) = self;
        match loads {
            Loads::Positions(files) => {
                drop(files.get(task).and_then(|file| deletes.position_deletes(*file, opening)));
            }
            Loads::Keys(groups) => {
                drop(groups.get(task).and_then(|group| deletes.group_keys(*group)));
            }
        }
        Ok(vec![])
    }

    fn begin(&self, (): &(), _: usize) -> Option<usize> {
        Some(0)
    }

    fn decode(&self, (): (), _: &mut dyn FnMut(Self::Item) -> bool) -> Result<()> {
        Ok(())
    }

    fn bytes(_: &Self::Item) -> usize {
        0
    }
}
