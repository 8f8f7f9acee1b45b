//! The stateful terms of all potentials of a [`Model`] as one.
//!
//! The history of a model is the list of the histories of its potentials.

use crate::model::Model;
use lilyan_dynamics::system::terms::{StatefulTerms, StepStart, StepTerms, TermHistory};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

impl Model {
    fn stateful(&self) -> impl Iterator<Item = &dyn StatefulTerms> {
        self.potentials.iter().filter_map(|p| p.role().terms)
    }

    /// The history of each potential with terms; empty ones before the first step.
    fn histories(&self, history: &TermHistory) -> Vec<TermHistory> {
        let mut parts: Vec<TermHistory> = postcard::from_bytes(&history.data).unwrap_or_default();
        parts.resize(self.stateful().count(), TermHistory::default());
        parts
    }
}

impl StatefulTerms for Model {
    fn begin_step<'a>(&'a self, start: StepStart<'_>) -> Box<dyn StepTerms + 'a> {
        let histories = self.histories(start.history);
        let begin = |(terms, history): (&'a dyn StatefulTerms, &TermHistory)| {
            terms.begin_step(StepStart { t: start.t, h: start.h, q: start.q, v: start.v, history })
        };
        Box::new(TermsOfAll(self.stateful().zip(&histories).map(begin).collect()))
    }

    fn stored_energy(&self, history: &TermHistory, q: &[f64]) -> f64 {
        let histories = self.histories(history);
        self.stateful().zip(&histories).map(|(terms, history)| terms.stored_energy(history, q)).sum()
    }
}

/// The terms of all potentials in one step.
struct TermsOfAll<'a>(Vec<Box<dyn StepTerms + 'a>>);

impl StepTerms for TermsOfAll<'_> {
    fn energy(&self, q: &[f64]) -> f64 {
        self.0.iter().map(|terms| terms.energy(q)).sum()
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.0.iter().for_each(|terms| terms.add_gradient(q, g));
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.0.iter().for_each(|terms| terms.add_hessian(q, curvature, h));
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.0.iter().all(|terms| terms.add_discrete_gradient(q0, q1, g))
    }
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64 {
        self.0.iter().map(|terms| terms.max_step(q, d)).fold(f64::INFINITY, f64::min)
    }
    fn lag(&mut self, q: &[f64]) -> bool {
        // Every one of them is updated, so that `any` alone would not do.
        self.0.iter_mut().filter_map(|terms| terms.lag(q).then_some(())).count() > 0
    }
    fn end_step(&self, q: &[f64]) -> TermHistory {
        let parts: Vec<TermHistory> = self.0.iter().map(|terms| terms.end_step(q)).collect();
        TermHistory {
            dissipated: parts.iter().map(|part| part.dissipated).sum(),
            // Writing numbers and bytes to memory cannot fail.
            data: postcard::to_stdvec(&parts).unwrap_or_default(),
        }
    }
}
