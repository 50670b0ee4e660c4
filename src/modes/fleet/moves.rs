//! What the devices of a fleet tell each other: after a stage, before other shares, and to be seen as one.

use std::ops::Range;

use super::Fleet;
use super::part::{Duty, Need, Part, Plan, Traffic};
use crate::compute::Mail;
use crate::error::Result;

impl<P: Part> Fleet<P> {
    /// Gives each of a new crew what it takes to go on with its duty.
    pub(super) fn spread(&mut self, crew: &[usize], new: &[Duty]) -> Result<()> {
        let Self { parts, crew: old, duties, exchange, plan, .. } = self;
        let members: Vec<usize> = old.iter().chain(crew).copied().collect();
        let mut mail = Mail::new(parts.len(), &members);
        for (&to, duty) in crew.iter().zip(new) {
            for (&from, before) in old.iter().zip(duties.iter()).filter(|(from, _)| **from != to) {
                let [sender, receiver] = [from, to].map(|device| &parts[device]);
                if !old.contains(&to) {
                    for (field, into) in sender.shared().into_iter().zip(receiver.shared()) {
                        mail.send((from, field), (to, into), before.own.clone());
                    }
                }
                for range in wanted(&duty.own, plan).into_iter().map(|range| both(&range, &before.own)) {
                    for (field, into) in sender.kept(Need::State).into_iter().zip(receiver.kept(Need::State))
                    {
                        mail.send((from, field), (to, into), range.clone());
                    }
                }
                if from == old[0]
                    && let (Some((field, count)), Some((into, _))) = (sender.apart(), receiver.apart())
                {
                    mail.send((from, field), (to, into), 0..count);
                }
            }
        }
        exchange.pass(&mail)?;
        drop(mail);
        for device in members {
            self.parts[device].lane().finish()?;
        }
        Ok(())
    }

    /// Gives the first who takes part what is needed of what the others keep.
    pub(super) fn gather(&mut self, need: Need) -> Result<()> {
        if self.gathered >= Some(need) || self.crew.len() == 1 {
            return Ok(());
        }
        for (&device, duty) in self.crew.iter().zip(&self.duties) {
            self.parts[device].show(need, &duty.own)?;
        }
        self.collect(need)?;
        self.gathered = Some(need);
        Ok(())
    }

    fn collect(&mut self, need: Need) -> Result<()> {
        let Self { parts, crew, duties, exchange, .. } = self;
        let mut mail = Mail::new(parts.len(), crew);
        for (&from, duty) in crew.iter().zip(duties.iter()).skip(1) {
            for (field, into) in parts[from].kept(need).into_iter().zip(parts[crew[0]].kept(need)) {
                mail.send((from, field), (crew[0], into), duty.own.clone());
            }
        }
        exchange.pass(&mail)
    }

    /// What is exchanged after a stage.
    pub(super) fn exchange(&mut self, stage: usize) -> Result<()> {
        let Self { parts, crew, duties, exchange, plan, .. } = self;
        let mut mail = Mail::new(parts.len(), crew);
        let traffic: Vec<Traffic> = crew.iter().map(|&device| parts[device].traffic(stage)).collect();
        let others = |nth: usize| (0..crew.len()).filter(move |&other| other != nth);
        for (nth, duty) in duties.iter().enumerate() {
            let own = &duty.own;
            match &traffic[nth] {
                Traffic::All(fields) => {
                    for (at, field) in fields.iter().enumerate() {
                        let place = mail.take(crew[nth], *field, own.clone());
                        for other in others(nth) {
                            if let Traffic::All(into) = &traffic[other] {
                                mail.give(crew[other], into[at], own.clone(), place);
                            }
                        }
                    }
                }
                Traffic::Edges(field) => {
                    let [before, behind] = [crew.len() - 1, 1].map(|step| (nth + step) % crew.len());
                    let edge = plan.edge.min(own.len());
                    for (rows, to) in
                        [(own.start..own.start + edge, before), (own.end - edge..own.end, behind)]
                    {
                        if let Traffic::Edges(into) = &traffic[to] {
                            mail.send((crew[nth], *field), (crew[to], *into), rows);
                        }
                    }
                }
                Traffic::Sums { into, stride, .. } => {
                    for (slot, other) in others(nth).enumerate() {
                        if let Traffic::Sums { parts, .. } = &traffic[other] {
                            let place = mail.take(crew[other], *parts, own.clone());
                            mail.give(crew[nth], *into, slot * stride..slot * stride + own.len(), place);
                        }
                    }
                }
                Traffic::ToFirst(field) => {
                    if let (1.., Traffic::ToFirst(into)) = (nth, &traffic[0]) {
                        mail.send((crew[nth], *field), (crew[0], *into), own.clone());
                    }
                }
                Traffic::Nothing => {}
            }
        }
        match traffic[0] {
            Traffic::Nothing => Ok(()),
            _ => exchange.pass(&mail),
        }
    }
}

/// What it takes to know to step `own`: in a grid, rows beside it too.
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
