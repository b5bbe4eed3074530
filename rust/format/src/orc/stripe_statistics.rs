//! Statistics of the stripes of an ORC file.

use super::bounds::{Bound, are_reliable, bounds_in};
use super::chunks::decompressed;
use super::footer::Footer;
use super::postscript::Postscript;
use super::wire::Fields;
use crate::Result;

/// Statistics of one column in one stripe.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeafStatistics {
    /// Number of values that are not null.
    pub values: Option<u64>,
    /// A lower bound of all values other than null and NaN.
    pub lower: Option<Bound>,
    /// An upper bound of all values other than null and NaN.
    pub upper: Option<Bound>,
}

/// The statistics of all stripes of a file, decoded by column on demand.
#[derive(Debug)]
pub struct StripeStatistics {
    message: Vec<u8>,
    stripes: usize,
    /// Column number and type kind of each leaf.
    leaves: Vec<(usize, u64)>,
}

impl StripeStatistics {
    /// Parse the statistics from their bytes in the file; `None` where the file has none that are reliable.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] where the statistics do not decompress.
    pub fn of(metadata: &[u8], postscript: &Postscript, footer: &Footer) -> Result<Option<Self>> {
        if metadata.is_empty() || !are_reliable(postscript, footer) {
            return Ok(None);
        }
        let Some(message) = decompressed(metadata, postscript)? else { return Ok(None) };
        let leaves = footer.leaves().collect();
        Ok(Some(Self { message, stripes: footer.stripes.len(), leaves }))
    }

    /// Return the statistics of a leaf, numbered in file order, for each stripe; empty where they are unknown.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub fn leaf(&self, leaf: usize) -> Result<Vec<LeafStatistics>> {
        let Some((column, kind)) = self.leaves.get(leaf) else { return Ok(vec![]) };
        let mut by_stripe = Vec::new();
        for field in Fields::of(&self.message) {
            if let (1, stripe) = field? {
                if by_stripe.len() == self.stripes {
                    return Ok(vec![]);
                }
                by_stripe.push(of_stripe(stripe.bytes("stripe's statistics")?, *column, *kind)?);
            }
        }
        // Statistics belong to stripes by position, so a missing one makes all ambiguous.
        Ok(if by_stripe.len() == self.stripes { by_stripe } else { vec![] })
    }
}

fn of_stripe(message: &[u8], column: usize, kind: u64) -> Result<LeafStatistics> {
    let columns =
        Fields::of(message).filter(|field| !matches!(field, Ok((number, _)) if *number != 1));
    match columns.into_iter().nth(column) {
        Some(field) => of_column(field?.1.bytes("column's statistics")?, kind),
        None => Ok(LeafStatistics::default()),
    }
}

fn of_column(message: &[u8], kind: u64) -> Result<LeafStatistics> {
    let mut statistics = LeafStatistics::default();
    for field in Fields::of(message) {
        let (number, value) = field?;
        if number == 1 {
            statistics.values = Some(value.number("number of values")?);
        } else if let Some(bounds) = bounds_in((number, value), kind, statistics.values)? {
            (statistics.lower, statistics.upper) = bounds;
        }
    }
    Ok(statistics)
}
