//! Jumps from the command palette or a lesson to a control: scroll to the control, outline it and give it the keyboard focus.

use std::sync::Arc;

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::util::IdTypeMap;
use egui::{Align, Id, Response, Stroke, StrokeKind, TextEdit};

use super::theme;

/// Time, in seconds, for which the panel keeps scrolling to a control. The section around it may expand during this
/// time.
const DURATION: f64 = 0.5;

/// State of a jump to a control in the panel, stored in egui's memory.
#[derive(Clone, Default)]
struct Jump {
    /// Key of the target control.
    key: Arc<str>,
    /// Time at which the jump ends, in seconds of egui's clock.
    end: f64,
    /// Whether the control has received the keyboard focus.
    is_focused: bool,
}

fn id() -> Id {
    Id::new("jump")
}

/// Starts scrolling the panel to the control `key`.
pub(super) fn start(ctx: &egui::Context, key: Arc<str>) {
    let jump = Jump { key, end: ctx.input(|input| input.time) + DURATION, is_focused: false };
    ctx.data_mut(|data| data.insert_temp(id(), jump));
}

/// Returns the key of the control that the panel is scrolling to, if any.
pub(super) fn target(ctx: &egui::Context) -> Option<Arc<str>> {
    let jump: Jump = ctx.data(|data| data.get_temp(id()))?;
    (ctx.input(|input| input.time) < jump.end).then_some(jump.key)
}

/// If the panel is jumping to the control `key`, scrolls to `control`, outlines it and returns `true`.
pub(super) fn reveal(key: &str, control: &Response) -> bool {
    let is_target = target(&control.ctx).as_deref() == Some(key);
    if is_target {
        control.scroll_to_me(Some(Align::Center));
        outline(control);
        control.ctx.request_repaint();
    }
    is_target
}

/// Outlines a control.
pub(super) fn outline(control: &Response) {
    // The height is negative while the control is scrolled out of sight.
    let visible = control.interact_rect;
    if visible.is_positive() {
        let stroke = Stroke::new(1.5_f32, theme::of_context(&control.ctx).accent);
        let painter = control.ctx.layer_painter(control.layer_id);
        painter.rect_stroke(visible.expand(2.0), 4.0, stroke, StrokeKind::Outside);
    }
}

/// If the panel is scrolling to the text field `key`, scrolls to `control`, focuses it and selects its text.
pub(super) fn reveal_and_focus(key: &str, control: &Response) {
    let ctx = &control.ctx;
    let is_first = |data: &mut IdTypeMap| {
        let jump: &mut Jump = data.get_temp_mut_or_default(id());
        !std::mem::replace(&mut jump.is_focused, true)
    };
    if reveal(key, control) && ctx.data_mut(is_first) {
        control.request_focus();
        // Text left from an earlier edit of the field would replace its number.
        ctx.data_mut(|data| data.remove::<String>(control.id));
        let mut text = TextEditState::default();
        let all = CCursorRange::two(CCursor::default(), CCursor::new(usize::MAX));
        text.cursor.set_char_range(Some(all));
        TextEdit::store_state(ctx, control.id, text);
    }
}
