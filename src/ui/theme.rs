//! How it looks: dark and quiet, so that the picture is the brightest thing; one accent colour.

use egui::style::{Selection, WidgetVisuals};
use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, vec2};

/// Behind the controls.
pub(super) const SURFACE: Color32 = Color32::from_rgb(0x15, 0x17, 0x1c);
/// Buttons.
pub(super) const RAISED: Color32 = Color32::from_rgb(0x26, 0x2a, 0x32);
const HOVERED: Color32 = Color32::from_rgb(0x32, 0x38, 0x43);
/// Rails of sliders and empty checkboxes: they carry no text, so their own shape must stand out.
const CONTROL: Color32 = Color32::from_rgb(0x40, 0x47, 0x54);
/// Behind text that is only read.
pub(super) const SUNKEN: Color32 = Color32::from_rgb(0x0d, 0x0f, 0x12);
const LINE: Color32 = Color32::from_rgb(0x2b, 0x2f, 0x38);
/// Text that matters most.
pub(super) const STRONG: Color32 = Color32::from_rgb(0xff, 0xff, 0xff);
/// Text.
pub(super) const TEXT: Color32 = Color32::from_rgb(0xd5, 0xd9, 0xe0);
/// Text that stands back.
pub(super) const WEAK: Color32 = Color32::from_rgb(0x9a, 0xa2, 0xb0);
/// The one colour, as text and lines.
pub(super) const ACCENT: Color32 = Color32::from_rgb(0x7c, 0xb7, 0xf5);
/// The one colour, behind text.
pub(super) const ACCENT_FILL: Color32 = Color32::from_rgb(0x23, 0x4f, 0x80);
/// Something is wrong.
pub(super) const WARNING: Color32 = Color32::from_rgb(0xff, 0xb3, 0x5c);

/// Lines of a chart: bright on dark, and told apart by eyes that miss a colour (after Okabe and Ito, 2008).
pub(super) const LINES: [Color32; 7] = [
    Color32::from_rgb(0x56, 0xb4, 0xe9),
    Color32::from_rgb(0xe6, 0x9f, 0x00),
    Color32::from_rgb(0x00, 0xb8, 0x86),
    Color32::from_rgb(0xf0, 0xe4, 0x42),
    Color32::from_rgb(0xcc, 0x79, 0xa7),
    Color32::from_rgb(0xf2, 0x6b, 0x21),
    Color32::from_rgb(0xb6, 0xa6, 0xff),
];

/// Between one control and the next, in points.
pub(super) const ITEM_SPACING: egui::Vec2 = vec2(6.0, 5.0);
/// The column of labels, in points.
pub(super) const LABEL_WIDTH: f32 = 92.0;
/// A parameter's number beside its slider, in points.
pub(super) const NUMBER_WIDTH: f32 = 78.0;
/// A whole number up to millions, in points.
pub(super) const COUNT_WIDTH: f32 = 84.0;

/// Sets the style of everything that `ctx` draws.
pub(super) fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.style_mut_of(egui::Theme::Dark, |style| {
        fonts(style);
        spacing(&mut style.spacing);
        visuals(&mut style.visuals);
        style.explanation_tooltips = false;
        // Labels answer to hovering and clicking; selecting their text would get in the way.
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.5;
    });
}

fn fonts(style: &mut egui::Style) {
    let font = |size| FontId::new(size, FontFamily::Proportional);
    style.text_styles = [
        (TextStyle::Small, font(12.0)),
        (TextStyle::Body, font(14.0)),
        (TextStyle::Button, font(14.0)),
        (TextStyle::Heading, font(18.0)),
        (TextStyle::Monospace, FontId::new(13.0, FontFamily::Monospace)),
    ]
    .into();
}

fn spacing(spacing: &mut egui::Spacing) {
    spacing.item_spacing = ITEM_SPACING;
    spacing.button_padding = vec2(7.0, 2.0);
    spacing.interact_size = vec2(40.0, 22.0);
    spacing.icon_width = 18.0;
    spacing.icon_width_inner = 10.0;
    spacing.slider_rail_height = 4.0;
    spacing.window_margin = Margin::same(14);
    spacing.menu_margin = Margin::same(6);
    spacing.tooltip_width = 280.0;
    spacing.scroll = egui::style::ScrollStyle::thin();
}

fn visuals(visuals: &mut egui::Visuals) {
    visuals.panel_fill = SURFACE;
    visuals.window_fill = SURFACE;
    visuals.window_stroke = Stroke::new(1.0_f32, LINE);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow =
        Shadow { offset: [0, 6], blur: 24, spread: 0, color: Color32::from_black_alpha(140) };
    visuals.popup_shadow =
        Shadow { offset: [0, 3], blur: 12, spread: 0, color: Color32::from_black_alpha(140) };
    visuals.extreme_bg_color = SUNKEN;
    visuals.code_bg_color = SUNKEN;
    visuals.weak_text_color = Some(WEAK);
    visuals.warn_fg_color = WARNING;
    visuals.error_fg_color = WARNING;
    visuals.hyperlink_color = ACCENT;
    visuals.selection = Selection { bg_fill: ACCENT_FILL, stroke: Stroke::new(1.0_f32, STRONG) };
    visuals.slider_trailing_fill = true;
    let widget = |fill: Color32, text: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::NONE,
        corner_radius: CornerRadius::same(4),
        fg_stroke: Stroke::new(1.0_f32, text),
        expansion: 0.0,
    };
    let widgets = &mut visuals.widgets;
    widgets.noninteractive = WidgetVisuals { bg_stroke: Stroke::new(1.0_f32, LINE), ..widget(SURFACE, TEXT) };
    widgets.inactive = WidgetVisuals { bg_fill: CONTROL, ..widget(RAISED, TEXT) };
    widgets.hovered = WidgetVisuals { bg_stroke: Stroke::new(1.0_f32, WEAK), ..widget(HOVERED, STRONG) };
    widgets.active = WidgetVisuals { bg_stroke: Stroke::new(1.0_f32, ACCENT), ..widget(HOVERED, STRONG) };
    widgets.open = widget(RAISED, STRONG);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2.1, contrast ratio.
    fn contrast(a: Color32, b: Color32) -> f32 {
        let luminance = |color: Color32| {
            let [r, g, b, _] = egui::Rgba::from(color).to_array();
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_meets_wcag_aa() {
        for (text, behind) in [
            (TEXT, SURFACE),
            (WEAK, SURFACE),
            (WEAK, RAISED),
            (WEAK, SUNKEN),
            (TEXT, RAISED),
            (STRONG, HOVERED),
            (STRONG, ACCENT_FILL),
            (TEXT, ACCENT_FILL),
            (ACCENT, SURFACE),
            (WARNING, SURFACE),
        ] {
            let contrast = contrast(text, behind);
            assert!(contrast >= 4.5, "{text:?} on {behind:?}: {contrast:.1}");
        }
        for line in LINES {
            assert!(contrast(line, SUNKEN) >= 4.5, "{line:?}");
        }
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 0.01);
    }
}
