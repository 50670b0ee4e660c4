//! Transfers of data between the devices that share a simulation.

use std::ops::Range;

use super::assignment::{Assignment, Need, Portion};
use super::orders::Order;
use super::shared::{Plan, SharedSimulation, Traffic};
use super::simulation::Fleet;
use crate::base::Result;
use crate::compute::{Exchange, Staging};

impl<P: SharedSimulation> Fleet<P> {
    /// Sends each device in `participants` the data that it lacks for its new assignment.
    pub(super) fn spread(&mut self, participants: &[usize], new: &[Assignment]) -> Result<()> {
        let Self { parts, participants: old, assignments, staging, plan, first, count, .. } = self;
        let part = |device: usize| stand_in(parts, *first, device);
        let members: Vec<usize> = old.iter().chain(participants).copied().collect();
        let mut exchange = Exchange::new(*count, &members);
        for (&to, assignment) in participants.iter().zip(new) {
            for (&from, before) in old.iter().zip(assignments.iter()).filter(|(from, _)| **from != to) {
                let [sender, receiver] = [from, to].map(part);
                if !old.contains(&to) {
                    for (field, into) in sender.shared().into_iter().zip(receiver.shared()) {
                        exchange.copy((from, field), (to, into), before.own.clone());
                    }
                }
                for range in wanted(&assignment.own, plan).into_iter().map(|range| both(&range, &before.own))
                {
                    for (field, into) in sender.kept(Need::State).into_iter().zip(receiver.kept(Need::State))
                    {
                        exchange.copy((from, field), (to, into), range.clone());
                    }
                }
                if from == old[0]
                    && let (Some((field, count)), Some((into, _))) = (sender.apart(), receiver.apart())
                {
                    exchange.copy((from, field), (to, into), 0..count);
                }
            }
        }
        staging.run(&exchange)?;
        drop(exchange);
        for device in members {
            if let Some(place) = self.place(device) {
                self.parts[place].lane().finish()?;
            }
        }
        Ok(())
    }

    /// Sends the first participating device the other devices' data that `need` requires. Returns the simulation on
    /// that first device.
    pub(super) fn gather(&mut self, need: Need) -> Result<&mut P> {
        if self.gathered < Some(need) && self.participants.len() > 1 {
            self.tell(|| (Order::Gather(need), Vec::new()))?;
            let Self { parts, participants, assignments, staging, first: start, count, .. } = self;
            for (&device, assignment) in participants.iter().zip(&*assignments) {
                if let Some(part) = parts.get_mut(device.wrapping_sub(*start)) {
                    part.show(need, &assignment.own)?;
                }
            }
            let part = |device: usize| stand_in(parts, *start, device);
            let (first, mut exchange) = (participants[0], Exchange::new(*count, participants));
            for (&from, assignment) in participants.iter().zip(&*assignments).skip(1) {
                for (field, into) in part(from).kept(need).into_iter().zip(part(first).kept(need)) {
                    exchange.copy((from, field), (first, into), assignment.own.clone());
                }
            }
            // An empty exchange would only wait, and abandon an exchange that has begun.
            if !exchange.is_empty() {
                staging.run(&exchange)?;
            }
            self.gathered = Some(need);
        }
        Ok(self.lead())
    }

    /// Exchanges a part of the data that the participating devices need after a stage of a pass. `act` is the method of
    /// [`Staging`] to call: it begins, finishes or runs the exchange.
    pub(super) fn exchange(
        &mut self,
        stage: usize,
        portion: Portion,
        act: fn(&mut Staging, &Exchange) -> Result<()>,
    ) -> Result<()> {
        let Self { parts, participants, assignments, staging, plan, first, count: devices, .. } = self;
        let part = |device: usize| stand_in(parts, *first, device);
        let mut exchange = Exchange::new(*devices, participants);
        let traffic: Vec<Traffic> = participants.iter().map(|&device| part(device).traffic(stage)).collect();
        if portion == Portion::Late && !matches!(traffic[0], Traffic::Work(_)) {
            return Ok(());
        }
        let count = participants.len();
        for (nth, assignment) in assignments.iter().enumerate() {
            let (own, device) = (&assignment.own, participants[nth]);
            let others = (0..count).filter(|&other| other != nth);
            match &traffic[nth] {
                Traffic::Nothing => return Ok(()),
                Traffic::All(fields) => {
                    for (at, field) in fields.iter().enumerate() {
                        let slot = exchange.read(device, *field, own.clone());
                        for other in others.clone() {
                            if let Traffic::All(into) = &traffic[other] {
                                exchange.write(participants[other], into[at], own.clone(), slot);
                            }
                        }
                    }
                }
                Traffic::Work(results) => {
                    let (work, early) = (assignment.work.clone(), assignment.early());
                    let units = match portion {
                        Portion::All => work,
                        Portion::Early => early,
                        Portion::Late => early.end..work.end,
                    };
                    let slot = exchange.read(device, *results, units.clone());
                    for other in others {
                        if let Traffic::Work(into) = &traffic[other] {
                            exchange.write(participants[other], *into, units.clone(), slot);
                        }
                    }
                }
                Traffic::Edges(field) => {
                    let [before, behind] = [count - 1, 1].map(|step| (nth + step) % count);
                    let edge = plan.edge.min(own.len());
                    let edges = [(own.start..own.start + edge, before), (own.end - edge..own.end, behind)];
                    for (rows, to) in edges {
                        if let Traffic::Edges(into) = &traffic[to] {
                            exchange.copy((device, *field), (participants[to], *into), rows);
                        }
                    }
                }
                Traffic::Sums { into, stride, .. } => {
                    for (start, other) in (0..).step_by(*stride).zip(others) {
                        if let Traffic::Sums { parts, .. } = &traffic[other] {
                            let slot = exchange.read(participants[other], *parts, own.clone());
                            exchange.write(device, *into, start..start + own.len(), slot);
                        }
                    }
                }
                Traffic::ToFirst(field) => {
                    if let (1.., Traffic::ToFirst(into)) = (nth, &traffic[0]) {
                        exchange.copy((device, *field), (participants[0], *into), own.clone());
                    }
                }
            }
        }
        act(staging, &exchange)
    }
}

/// Returns the simulation on a device. If another rank has the device, returns the first simulation of this process,
/// whose buffers have the same layout.
fn stand_in<P>(parts: &[P], first: usize, device: usize) -> &P {
    parts.get(device.wrapping_sub(first)).unwrap_or(&parts[0])
}

/// Returns the rows that a device needs to advance the rows `own`. In a grid, these include neighbouring rows.
fn wanted(own: &Range<usize>, plan: &Plan) -> Vec<Range<usize>> {
    let beside = |row: usize| row % plan.count..row % plan.count + 1;
    let before = (0..plan.edge).map(|nth| beside(own.start + plan.count - 1 - nth));
    let behind = (0..plan.edge).map(|nth| beside(own.end + nth));
    [own.clone()].into_iter().chain(before).chain(behind).collect()
}

fn both(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}
