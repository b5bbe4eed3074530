//! A tournament tree over the next items of several sequences.

/// The numbers of sequences, arranged so that after a change of the least sequence one comparison on each level finds the
/// new least one.
pub(super) struct LoserTree {
    /// The least sequence first, then the loser of each match: the matches of node `n` are `2 n` and `2 n + 1`.
    nodes: Vec<usize>,
}

impl LoserTree {
    /// Create a tree over `count` sequences; `less` compares their next items, of different sequences, strictly.
    pub(super) fn new(count: usize, less: impl Fn(usize, usize) -> bool) -> Self {
        let mut winners: Vec<usize> = (0..count).chain(0..count).collect();
        let mut nodes = vec![0; count];
        for node in (1..count).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if less(right, left) { (right, left) } else { (left, right) };
            winners[node] = winner;
            nodes[node] = loser;
        }
        if let (Some(first), Some(winner)) = (nodes.first_mut(), winners.get(1)) {
            *first = if count == 1 { 0 } else { *winner };
        }
        Self { nodes }
    }

    /// Return the sequence with the least next item; `None` without sequences.
    pub(super) fn least(&self) -> Option<usize> {
        self.nodes.first().copied()
    }

    /// Restore the order after the next item of the least sequence changed.
    pub(super) fn replay(&mut self, less: impl Fn(usize, usize) -> bool) {
        let Some(mut winner) = self.least() else { return };
        let mut node = usize::midpoint(winner, self.nodes.len());
        while node > 0 {
            if less(self.nodes[node], winner) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::LoserTree;

    /// Merge sequences of numbers; equal numbers of earlier sequences come first.
    fn merged(sequences: &[Vec<u32>]) -> Vec<(u32, usize)> {
        let mut next = vec![0; sequences.len()];
        let head = |next: &[usize], at: usize| {
            sequences[at].get(next[at]).map_or((true, 0, at), |number| (false, *number, at))
        };
        let less = |next: &[usize], left, right| head(next, left) < head(next, right);
        let mut tree = LoserTree::new(sequences.len(), |left, right| less(&next, left, right));
        let mut found = vec![];
        while let Some(least) = tree.least() {
            let Some(number) = sequences[least].get(next[least]) else { break };
            found.push((*number, least));
            next[least] += 1;
            tree.replay(|left, right| less(&next, left, right));
        }
        found
    }

    #[test]
    fn merge_equals_a_stable_sort() {
        for count in 0..12_usize {
            let sequences: Vec<Vec<u32>> = (0..count)
                .map(|at| {
                    let numbers = (0..(at * 5) % 7).map(|n| ((n * n * 13 + at * 3) % 17) as u32);
                    let mut numbers: Vec<u32> = numbers.collect();
                    numbers.sort_unstable();
                    numbers
                })
                .collect();
            let all = sequences.iter().enumerate();
            let mut expected: Vec<(u32, usize)> =
                all.flat_map(|(at, numbers)| numbers.iter().map(move |n| (*n, at))).collect();
            expected.sort_unstable();
            assert_eq!(merged(&sequences), expected, "{count} sequences");
        }
    }
}
