//! Colours, fonts and spacing of the panel, in a dark and a light theme.

use egui::style::{Selection, WidgetVisuals};
use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, vec2};

/// Colours of a theme: greys, one accent colour and one warning colour.
#[derive(Debug)]
pub(super) struct Colours {
    /// Background of panels and windows.
    pub surface: Color32,
    /// Background of buttons.
    pub raised: Color32,
    /// Background of buttons under the pointer.
    hovered: Color32,
    /// Rails of sliders and scroll bars, which must be visible without text on them.
    control: Color32,
    /// Background of text that cannot be edited, and of number fields.
    pub sunken: Color32,
    /// Colour of outlines and separators.
    line: Color32,
    /// Colour of the most important text.
    pub strong: Color32,
    /// Colour of ordinary text.
    pub text: Color32,
    /// Colour of hints and other secondary text.
    pub weak: Color32,
    /// Accent colour of text and lines.
    pub accent: Color32,
    /// Accent colour behind text.
    pub accent_fill: Color32,
    /// Colour of warnings.
    pub warning: Color32,
    shadow: Color32,
    /// Lines of a chart, which people with colour blindness can tell apart (after Okabe and Ito, 2008).
    pub lines: [Color32; 7],
}

impl Colours {
    /// Translucent background of text over the picture.
    pub(super) fn veil(&self) -> Color32 {
        self.surface.gamma_multiply(if std::ptr::eq(self, &DARK) { 0.82 } else { 0.92 })
    }
}

/// Dark theme: the picture is brighter than the panel.
static DARK: Colours = Colours {
    surface: Color32::from_rgb(0x15, 0x17, 0x1c),
    raised: Color32::from_rgb(0x26, 0x2a, 0x32),
    hovered: Color32::from_rgb(0x32, 0x38, 0x43),
    control: Color32::from_rgb(0x40, 0x47, 0x54),
    sunken: Color32::from_rgb(0x0d, 0x0f, 0x12),
    line: Color32::from_rgb(0x2b, 0x2f, 0x38),
    strong: Color32::from_rgb(0xff, 0xff, 0xff),
    text: Color32::from_rgb(0xd5, 0xd9, 0xe0),
    weak: Color32::from_rgb(0x9a, 0xa2, 0xb0),
    accent: Color32::from_rgb(0x7c, 0xb7, 0xf5),
    accent_fill: Color32::from_rgb(0x23, 0x4f, 0x80),
    warning: Color32::from_rgb(0xff, 0xb3, 0x5c),
    shadow: Color32::from_black_alpha(140),
    lines: [
        Color32::from_rgb(0x56, 0xb4, 0xe9),
        Color32::from_rgb(0xe6, 0x9f, 0x00),
        Color32::from_rgb(0x00, 0xb8, 0x86),
        Color32::from_rgb(0xf0, 0xe4, 0x42),
        Color32::from_rgb(0xcc, 0x79, 0xa7),
        Color32::from_rgb(0xf2, 0x6b, 0x21),
        Color32::from_rgb(0xb6, 0xa6, 0xff),
    ],
};

/// Light theme, for bright rooms and for print.
static LIGHT: Colours = Colours {
    surface: Color32::from_rgb(0xf5, 0xf6, 0xf8),
    raised: Color32::from_rgb(0xe2, 0xe5, 0xea),
    hovered: Color32::from_rgb(0xd5, 0xda, 0xe1),
    control: Color32::from_rgb(0xb9, 0xc0, 0xcb),
    sunken: Color32::from_rgb(0xff, 0xff, 0xff),
    line: Color32::from_rgb(0xd2, 0xd6, 0xdd),
    strong: Color32::from_rgb(0x08, 0x0a, 0x0e),
    text: Color32::from_rgb(0x26, 0x2b, 0x34),
    weak: Color32::from_rgb(0x53, 0x5c, 0x6a),
    accent: Color32::from_rgb(0x0b, 0x57, 0xa8),
    accent_fill: Color32::from_rgb(0xb5, 0xd5, 0xf8),
    warning: Color32::from_rgb(0x9c, 0x44, 0x00),
    shadow: Color32::from_black_alpha(50),
    lines: [
        Color32::from_rgb(0x00, 0x68, 0xa8),
        Color32::from_rgb(0x96, 0x61, 0x00),
        Color32::from_rgb(0x00, 0x73, 0x52),
        Color32::from_rgb(0x75, 0x6b, 0x00),
        Color32::from_rgb(0xa0, 0x3c, 0x74),
        Color32::from_rgb(0xb5, 0x47, 0x00),
        Color32::from_rgb(0x5a, 0x49, 0xb8),
    ],
};

/// Returns the colours that `ui` is drawn in.
pub(super) fn of(ui: &egui::Ui) -> &'static Colours {
    colours(ui.visuals().dark_mode)
}

/// Returns the colours that `ctx` draws in.
pub(super) fn of_context(ctx: &egui::Context) -> &'static Colours {
    colours(ctx.theme() == egui::Theme::Dark)
}

/// Returns the colours for marks over the picture, which is dark in both themes.
pub(super) fn on_picture() -> &'static Colours {
    &DARK
}

fn colours(dark: bool) -> &'static Colours {
    if dark { &DARK } else { &LIGHT }
}

/// Gaps between controls, in points.
pub(super) const ITEM_SPACING: egui::Vec2 = vec2(6.0, 5.0);
/// Width of the label column, in points.
pub(super) const LABEL_WIDTH: f32 = 92.0;
/// Width of the number field beside a slider, in points.
pub(super) const NUMBER_WIDTH: f32 = 78.0;
/// Width of a field for a whole number up to millions, in points.
pub(super) const COUNT_WIDTH: f32 = 84.0;

/// Sets the style of both themes, and selects the dark one.
pub(super) fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    for (theme, colours) in [(egui::Theme::Dark, &DARK), (egui::Theme::Light, &LIGHT)] {
        ctx.style_mut_of(theme, |style| {
            fonts(style);
            spacing(&mut style.spacing);
            visuals(&mut style.visuals, colours);
            style.explanation_tooltips = false;
            // Labels react to clicks; selecting their text would interfere.
            style.interaction.selectable_labels = false;
            style.interaction.tooltip_delay = 0.5;
        });
    }
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

fn visuals(visuals: &mut egui::Visuals, colours: &Colours) {
    let Colours { surface, raised, hovered, control, sunken, line, strong, text, weak, accent, .. } =
        *colours;
    let Colours { accent_fill, warning, shadow, .. } = *colours;
    visuals.panel_fill = surface;
    visuals.window_fill = surface;
    visuals.window_stroke = Stroke::new(1.0_f32, line);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow = Shadow { offset: [0, 6], blur: 24, spread: 0, color: shadow };
    visuals.popup_shadow = Shadow { offset: [0, 3], blur: 12, spread: 0, color: shadow };
    visuals.extreme_bg_color = sunken;
    visuals.code_bg_color = sunken;
    visuals.weak_text_color = Some(weak);
    visuals.warn_fg_color = warning;
    visuals.error_fg_color = warning;
    visuals.hyperlink_color = accent;
    visuals.selection = Selection { bg_fill: accent_fill, stroke: Stroke::new(1.0_f32, strong) };
    visuals.slider_trailing_fill = true;
    let widget = |fill: Color32, ink: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::NONE,
        corner_radius: CornerRadius::same(4),
        fg_stroke: Stroke::new(1.0_f32, ink),
        expansion: 0.0,
    };
    let widgets = &mut visuals.widgets;
    widgets.noninteractive = WidgetVisuals { bg_stroke: Stroke::new(1.0_f32, line), ..widget(surface, text) };
    widgets.inactive = WidgetVisuals { bg_fill: control, ..widget(raised, text) };
    widgets.hovered = WidgetVisuals { bg_stroke: Stroke::new(1.0_f32, weak), ..widget(hovered, strong) };
    widgets.active = WidgetVisuals { bg_stroke: Stroke::new(1.0_f32, accent), ..widget(hovered, strong) };
    widgets.open = widget(raised, strong);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the contrast ratio of two colours as WCAG 2.1 defines it.
    fn contrast(a: Color32, b: Color32) -> f32 {
        let luminance = |color: Color32| {
            let [r, g, b, _] = egui::Rgba::from(color).to_array();
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_meets_wcag_aa_in_both_themes() {
        for c in [&DARK, &LIGHT] {
            for (text, behind) in [
                (c.text, c.surface),
                (c.weak, c.surface),
                (c.weak, c.raised),
                (c.weak, c.sunken),
                (c.text, c.raised),
                (c.strong, c.hovered),
                (c.strong, c.accent_fill),
                (c.text, c.accent_fill),
                (c.accent, c.surface),
                (c.warning, c.surface),
            ] {
                let contrast = contrast(text, behind);
                assert!(contrast >= 4.5, "{text:?} on {behind:?}: {contrast:.1}");
            }
            for line in c.lines {
                assert!(contrast(line, c.sunken) >= 4.5, "{line:?}: {}", contrast(line, c.sunken));
            }
        }
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 0.01);
    }
}
