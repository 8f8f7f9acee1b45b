use crate::math::{LANES, Lanes};

/// Most constants that a model may have.
pub const MAX_CONSTANTS: usize = 24;

/// Constants of many points: one set for all, or one for each.
#[derive(Clone, Debug)]
pub struct Constants {
    count: usize,
    uniform: bool,
    values: Vec<f64>,
    /// The one set in lanes, where there is only one.
    lanes: Vec<Lanes>,
}

impl Constants {
    /// One set for all points.
    pub fn uniform(values: Vec<f64>) -> Self {
        assert!(values.len() <= MAX_CONSTANTS);
        let lanes = values.iter().map(|&x| Lanes([x; LANES])).collect();
        Self { count: values.len(), uniform: true, values, lanes }
    }

    /// One set for each point, all of the same length.
    pub fn each(sets: &[Vec<f64>]) -> Self {
        let count = sets.first().map_or(0, Vec::len);
        assert!(count <= MAX_CONSTANTS && sets.iter().all(|s| s.len() == count));
        if sets.iter().all(|s| s == &sets[0]) {
            return Self::uniform(sets.first().cloned().unwrap_or_default());
        }
        Self { count, uniform: false, values: sets.concat(), lanes: Vec::new() }
    }

    /// The same, filled up to a whole number of entries.
    pub(crate) fn padded(self) -> Self {
        let places: Vec<u32> = (0..self.values.len().checked_div(self.count).unwrap_or(0) as u32).collect();
        self.permuted(&places)
    }

    /// The set of one point.
    pub fn of(&self, point: usize) -> &[f64] {
        if self.uniform { &self.values } else { &self.values[point * self.count..(point + 1) * self.count] }
    }

    /// The same with point k at `places[k]`.
    pub(crate) fn permuted(&self, places: &[u32]) -> Self {
        self.placed(places.as_chunks::<1>().0, places.len().div_ceil(LANES))
    }

    /// The same with point k at all of `places[k]`, in so many entries of four points. Points of entries that are not among
    /// the places get the set of the first point: valid numbers, which an element ignores because its weight there is 0.
    pub(crate) fn placed<const N: usize>(&self, places: &[[u32; N]], entries: usize) -> Self {
        if self.uniform {
            return self.clone();
        }
        let mut values = self.of(0).repeat(entries * LANES);
        for (e, places) in places.iter().enumerate() {
            for &place in places {
                let at = place as usize * self.count;
                values[at..at + self.count].copy_from_slice(self.of(e));
            }
        }
        Self { values, lanes: Vec::new(), ..*self }
    }
}

/// Where the entries of a list of points, four points each, find their constants.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Constants of all points.
    pub constants: &'a Constants,
    /// Number of the first entry of the list.
    pub first: usize,
}

impl Places<'_> {
    /// Calls `f(entry, constants)` for that many entries.
    #[inline(always)]
    pub(crate) fn each(self, entries: usize, mut f: impl FnMut(usize, &[Lanes])) {
        let Constants { count, uniform, ref lanes, .. } = *self.constants;
        let mut own = [Lanes([0.0; LANES]); MAX_CONSTANTS];
        for entry in 0..entries {
            if !uniform {
                for lane in 0..LANES {
                    let set = self.constants.of((self.first + entry) * LANES + lane);
                    for k in 0..count {
                        own[k].0[lane] = set[k];
                    }
                }
            }
            f(entry, if uniform { lanes } else { &own[..count] });
        }
    }
}
