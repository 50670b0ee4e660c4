//! Colours, fonts and spacing of the panel, in a dark and a light theme.

use egui::style::{Selection, WidgetVisuals};
use egui::{Color32, CornerRadius, Margin, Shadow, Stroke, TextStyle, vec2};

use crate::base::look;

/// Colours of a theme: greys, one accent colour and one warning colour.
#[derive(Debug)]
pub(super) struct Colours {
    /// Background of panels and windows.
    pub surface: Color32,
    /// Background of buttons.
    pub raised: Color32,
    /// Background of buttons under the pointer.
    hovered: Color32,
    /// Colour of slider rails and scroll bars.
    control: Color32,
    /// Background of number fields and of read-only text.
    pub sunken: Color32,
    /// Colour of outlines and separators.
    line: Color32,
    /// Colour of the most important text.
    pub strong: Color32,
    /// Colour of ordinary text.
    pub text: Color32,
    /// Colour of hints and other secondary text.
    pub weak: Color32,
    /// Accent colour for text and lines.
    pub accent: Color32,
    /// Accent colour for backgrounds behind text.
    pub accent_fill: Color32,
    pub warning: Color32,
    shadow: Color32,
    /// Opacity, from 0 to 1, of the background behind text over the picture.
    veil: f32,
    /// Colours (0xRRGGBB) of a chart's lines, which colour-blind people can tell apart (after Okabe and Ito, 2008).
    lines: [u32; 8],
}

impl Colours {
    /// Returns the colours of the light theme (for bright rooms and print) if `is_light` is true, otherwise of the dark theme.
    const fn new(is_light: bool) -> Self {
        let nth = is_light as usize;
        Self {
            surface: rgb([0x15171c, 0xf5f6f8][nth]),
            raised: rgb([0x262a32, 0xe2e5ea][nth]),
            hovered: rgb([0x323843, 0xd5dae1][nth]),
            control: rgb([0x404754, 0xb9c0cb][nth]),
            sunken: rgb([0x0d0f12, 0xffffff][nth]),
            line: rgb([0x2b2f38, 0xd2d6dd][nth]),
            strong: rgb([0xffffff, 0x080a0e][nth]),
            text: rgb([0xd5d9e0, 0x262b34][nth]),
            weak: rgb([0x9aa2b0, 0x535c6a][nth]),
            accent: rgb([0x7cb7f5, 0x0b57a8][nth]),
            accent_fill: rgb([0x234f80, 0xb5d5f8][nth]),
            warning: rgb([0xffb35c, 0x9c4400][nth]),
            shadow: Color32::from_black_alpha([140, 50][nth]),
            veil: [0.82, 0.92][nth],
            lines: [
                [0x56b4e9, 0xe69f00, 0x00b886, 0xf0e442, 0xcc79a7, 0xf26b21, 0xb6a6ff, 0xa6e22e],
                [0x0068a8, 0x966100, 0x007352, 0x756b00, 0xa03c74, 0xb54700, 0x5a49b8, 0x8c1d18],
            ][nth],
        }
    }

    /// Returns the colour for line number `nth` of a chart, counting from 0.
    pub(super) fn line_of(&self, nth: usize) -> Color32 {
        rgb(self.lines[nth % self.lines.len()])
    }
}

const fn rgb(hex: u32) -> Color32 {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color32::from_rgb(red, green, blue)
}

static DARK: Colours = Colours::new(false);
static LIGHT: Colours = Colours::new(true);

/// Returns a frame for text over the picture, with a translucent background.
pub(super) fn veil(ui: &egui::Ui) -> egui::Frame {
    let colours = of(ui);
    egui::Frame::NONE.fill(colours.surface.gamma_multiply(colours.veil)).corner_radius(8)
}

pub(super) fn of(ui: &egui::Ui) -> &'static Colours {
    colours(ui.visuals().dark_mode)
}

pub(super) fn of_context(ctx: &egui::Context) -> &'static Colours {
    colours(ctx.theme() == egui::Theme::Dark)
}

/// Returns the text colours for the counts of opened cells, taken cells and pairs. Their hues match the drawn cells (see
/// `shaders/cells.vert`).
pub(super) fn of_cells(ui: &egui::Ui) -> [Color32; 3] {
    let colours = of(ui);
    [colours.warning, colours.accent, colours.strong]
}

/// Sets the theme of a context.
pub(super) fn choose(ctx: &egui::Context, theme: look::Theme) {
    ctx.set_theme(match theme {
        look::Theme::Dark => egui::Theme::Dark,
        look::Theme::Light => egui::Theme::Light,
    });
}

fn colours(dark: bool) -> &'static Colours {
    if dark { &DARK } else { &LIGHT }
}

/// Horizontal and vertical gap between controls, in points.
pub(super) const ITEM_SPACING: egui::Vec2 = vec2(6.0, 5.0);
/// Width of the panel's column of labels, in points.
pub(super) const LABEL_WIDTH: f32 = 92.0;
/// Width of the number field beside a slider, in points.
pub(super) const NUMBER_WIDTH: f32 = 78.0;
/// Width of a drop-down list, in points.
pub(super) const LIST_WIDTH: f32 = 110.0;
/// Largest height of the options of a drop-down list, in points; longer lists scroll.
pub(super) const LIST_HEIGHT: f32 = 360.0;
/// Width of a field for whole numbers in the millions, in points.
pub(super) const COUNT_WIDTH: f32 = 84.0;

/// Sets the style of both themes, and selects the dark theme.
pub(super) fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    for (theme, colours) in [(egui::Theme::Dark, &DARK), (egui::Theme::Light, &LIGHT)] {
        ctx.style_mut_of(theme, |style| {
            fonts(style);
            spacing(&mut style.spacing);
            visuals(&mut style.visuals, colours);
            style.explanation_tooltips = false;
            // Labels react to clicks, which text selection would intercept.
            style.interaction.selectable_labels = false;
            style.interaction.tooltip_delay = 0.5;
        });
    }
}

fn fonts(style: &mut egui::Style) {
    let sizes = [
        (TextStyle::Small, 12.0),
        (TextStyle::Body, 14.0),
        (TextStyle::Button, 14.0),
        (TextStyle::Heading, 18.0),
        (TextStyle::Monospace, 13.0),
    ];
    for (name, size) in sizes {
        style.text_styles.entry(name).and_modify(|font| font.size = size);
    }
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
    let stroke = |colour| Stroke::new(1.0_f32, colour);
    visuals.panel_fill = colours.surface;
    visuals.window_fill = colours.surface;
    visuals.window_stroke = stroke(colours.line);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow = Shadow { offset: [0, 6], blur: 24, spread: 0, color: colours.shadow };
    visuals.popup_shadow = Shadow { offset: [0, 3], blur: 12, spread: 0, color: colours.shadow };
    visuals.extreme_bg_color = colours.sunken;
    visuals.code_bg_color = colours.sunken;
    visuals.weak_text_color = Some(colours.weak);
    visuals.warn_fg_color = colours.warning;
    visuals.error_fg_color = colours.warning;
    visuals.hyperlink_color = colours.accent;
    visuals.selection = Selection { bg_fill: colours.accent_fill, stroke: stroke(colours.strong) };
    visuals.slider_trailing_fill = true;
    let widget = |fill, text, outline| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: outline,
        corner_radius: CornerRadius::same(4),
        fg_stroke: stroke(text),
        expansion: 0.0,
    };
    let Colours { raised, hovered, strong, text, .. } = *colours;
    let widgets = &mut visuals.widgets;
    widgets.noninteractive = widget(colours.surface, text, stroke(colours.line));
    widgets.inactive = WidgetVisuals { bg_fill: colours.control, ..widget(raised, text, Stroke::NONE) };
    widgets.hovered = widget(hovered, strong, stroke(colours.weak));
    widgets.active = widget(hovered, strong, stroke(colours.accent));
    widgets.open = widget(raised, strong, Stroke::NONE);
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
            let pairs: [(&[Color32], Color32); 5] = [
                (&[c.text, c.weak, c.accent, c.warning], c.surface),
                (&[c.text, c.weak], c.raised),
                (&[c.weak, c.text, c.accent], c.sunken),
                (&[c.strong], c.hovered),
                (&[c.strong, c.text], c.accent_fill),
            ];
            for (texts, behind) in pairs {
                for text in texts {
                    let contrast = contrast(*text, behind);
                    assert!(contrast >= 4.5, "{text:?} on {behind:?}: {contrast:.1}");
                }
            }
            for nth in 0..c.lines.len() {
                assert!(contrast(c.line_of(nth), c.sunken) >= 4.5, "line {nth}");
            }
        }
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 0.01);
    }
}
