//! An OpenGL context in a window that is never shown, because Windows has no OpenGL without a window.

use std::num::{NonZeroIsize, NonZeroU32};
use std::ptr;

use glutin::config::ConfigTemplateBuilder;
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, PossiblyCurrentContext, Version};
use glutin::display::{Display, DisplayApiPreference};
use glutin::prelude::*;
use glutin::surface::{Surface, SurfaceAttributesBuilder, WindowSurface};
use raw_window_handle::{RawDisplayHandle, RawWindowHandle, Win32WindowHandle, WindowsDisplayHandle};
use windows_sys::Win32::System::LibraryLoader::GetModuleHandleW;
use windows_sys::Win32::UI::WindowsAndMessaging::{
    CS_OWNDC, CreateWindowExW, DefWindowProcW, RegisterClassW, WNDCLASSW, WS_POPUP,
};
use windows_sys::w;

/// An OpenGL context in a hidden window.
pub(super) struct Headless {
    context: PossiblyCurrentContext,
    surface: Surface<WindowSurface>,
}

impl Headless {
    /// Returns the OpenGL context.
    pub(super) fn context(&self) -> &PossiblyCurrentContext {
        &self.context
    }

    /// Makes the context current on this thread.
    pub(super) fn make_current(&self) -> glutin::error::Result<()> {
        self.context.make_current(&self.surface)
    }
}

/// Creates an OpenGL context, and makes the context current on this thread.
pub(super) fn open() -> Result<Headless, Box<dyn std::error::Error>> {
    let window = RawWindowHandle::Win32(create_window()?);
    // SAFETY: the window exists until its thread ends, and the context stays on this thread.
    let display = unsafe {
        Display::new(
            RawDisplayHandle::Windows(WindowsDisplayHandle::new()),
            DisplayApiPreference::Wgl(Some(window)),
        )
    }?;
    let template = ConfigTemplateBuilder::new().compatible_with_native_window(window).build();
    // SAFETY: the window exists until its thread ends.
    let config =
        unsafe { display.find_configs(template) }?.next().ok_or("no suitable OpenGL configuration")?;
    let attributes = ContextAttributesBuilder::new()
        .with_profile(GlProfile::Core)
        .with_context_api(ContextApi::OpenGl(Some(Version::new(3, 3))))
        .build(Some(window));
    // SAFETY: the window exists until its thread ends.
    let context = unsafe { display.create_context(&config, &attributes) }?;
    let one = NonZeroU32::MIN;
    let attributes = SurfaceAttributesBuilder::<WindowSurface>::new().build(window, one, one);
    // SAFETY: the window exists until its thread ends.
    let surface = unsafe { display.create_window_surface(&config, &attributes) }?;
    Ok(Headless { context: context.make_current(&surface)?, surface })
}

/// Creates a window that is never shown, and that exists until this thread ends.
fn create_window() -> Result<Win32WindowHandle, std::io::Error> {
    let name = w!("gravitile without a window");
    // SAFETY: all names end with a zero, and the class outlives the calls. Registering a class again has no effect.
    let (module, window) = unsafe {
        let module = GetModuleHandleW(ptr::null());
        let class = WNDCLASSW {
            style: CS_OWNDC,
            lpfnWndProc: Some(DefWindowProcW),
            hInstance: module,
            lpszClassName: name,
            ..Default::default()
        };
        RegisterClassW(&class);
        let none = ptr::null_mut();
        (module, CreateWindowExW(0, name, name, WS_POPUP, 0, 0, 1, 1, none, none, module, ptr::null()))
    };
    let mut handle =
        Win32WindowHandle::new(NonZeroIsize::new(window as isize).ok_or_else(std::io::Error::last_os_error)?);
    handle.hinstance = NonZeroIsize::new(module as isize);
    Ok(handle)
}
