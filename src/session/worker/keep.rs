//! What is taken out of the simulation: snapshots, pictures, and what studies measure.

use std::ops::ControlFlow;

use super::{Worker, is_aside};
use crate::bodies::Points;
use crate::error::Result;
use crate::session::{Command, Notice, Purpose, Save, Shot, Still};
use crate::trial::Study;

impl Worker<'_> {
    /// Starts to write a snapshot of what there is after the burst that runs.
    pub(super) fn save(&mut self, save: Save) -> Result<()> {
        let is_whole = match save.path {
            Some(_) => self.finish_burst()?,
            // The next one comes soon.
            None => self.settle()?,
        };
        match is_whole {
            true => self.keeper.save(&mut self.engine, save, &self.voice),
            false if save.path.is_some() => {
                // The end has come, which carries it out.
                self.waiting.push_front(Command::Save(save));
                Ok(())
            }
            false => Ok(()),
        }
    }

    /// Tells what is to be drawn after the steps of a shot, or all that there is now.
    pub(super) fn still(&mut self, shot: Option<Shot>) -> Result<()> {
        let purpose = match shot {
            Some(Shot { film, steps }) => {
                self.engine.run(steps, |_| ())?;
                (self.stale, self.told) = (true, false);
                Purpose::Film(film)
            }
            None => Purpose::Picture(Box::new(self.engine.snapshot()?)),
        };
        let (points, _) = self.engine.publish(Points::default())?.wait()?;
        let points = Points { colours: self.colours(), ..points };
        self.voice.tell(Notice::Still(Box::new(Still { points, purpose })));
        Ok(())
    }

    /// Measures, with the simulation standing still, until there is something else to do.
    pub(super) fn study(&mut self, study: Study) -> Result<()> {
        let is_free = self.settle()?;
        let complete = is_free && self.carry_out(study);
        self.voice.tell(Notice::StudyEnded { study, complete });
        self.meter.reset();
        Ok(())
    }

    /// Whether it came to its end.
    fn carry_out(&mut self, study: Study) -> bool {
        let Self { engine, inbox, voice, waiting, .. } = self;
        let mut complete = true;
        let outcome = study.run(engine.device(), engine.config(), &mut |share, trial| {
            voice.tell(Notice::Trial(share, *trial));
            waiting.extend(inbox.try_iter());
            complete = waiting.iter().all(waits_for_study);
            if complete { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        // What the study's own bodies do not fit into leaves those of the simulation as they were.
        if let Err(error) = outcome {
            complete = false;
            let in_force = Box::new(self.engine.config().clone());
            self.voice.tell(Notice::Rejected { error, wanted: in_force.clone(), in_force });
        }
        complete
    }
}

/// Whether a command can wait until a study has come to its end: nobody asked for something else.
fn waits_for_study(command: &Command) -> bool {
    let is_of_nobody = is_aside(command) && !matches!(command, Command::Select(_));
    is_of_nobody || matches!(command, Command::Save(Save { path: None, .. }))
}
