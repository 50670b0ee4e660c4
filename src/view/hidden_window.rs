//! An OpenGL context in a window that is never shown, because Windows has no OpenGL without a window.

use std::ffi::{CString, c_void};
use std::num::{NonZeroIsize, NonZeroU32};
use std::ptr;

use glium::SwapBuffersError;
use glium::backend::Backend;
use glutin::config::ConfigTemplateBuilder;
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, PossiblyCurrentContext, Version};
use glutin::display::{Display, DisplayApiPreference, GetGlDisplay};
use glutin::prelude::*;
use glutin::surface::{Surface, SurfaceAttributesBuilder, WindowSurface};
use raw_window_handle::{RawDisplayHandle, RawWindowHandle, Win32WindowHandle, WindowsDisplayHandle};
use windows_sys::Win32::System::LibraryLoader::GetModuleHandleW;
use windows_sys::Win32::UI::WindowsAndMessaging::{
    CS_OWNDC, CreateWindowExW, DefWindowProcW, RegisterClassW, WNDCLASSW, WS_POPUP,
};
use windows_sys::w;

use crate::base::{Error, Result, advice};

/// The glium backend for an OpenGL context in a hidden window.
pub(super) struct HiddenWindow {
    context: PossiblyCurrentContext,
    surface: Surface<WindowSurface>,
    size: (u32, u32),
}

/// Creates an OpenGL context, and makes the context current on this thread. `size` is the size that glium takes for the
/// size of the window.
pub(super) fn open(size: (u32, u32)) -> Result<HiddenWindow> {
    try_open(size).map_err(|reason| {
        Error::Graphics(format!(
            "cannot draw without a window, because this system does not support OpenGL 3.3 ({reason}); {}",
            advice::OPENGL
        ))
    })
}

fn try_open(size: (u32, u32)) -> Result<HiddenWindow, Box<dyn std::error::Error>> {
    let window = RawWindowHandle::Win32(create_window()?);
    // SAFETY: the window exists until its thread ends, and the context stays on this thread.
    let display = unsafe {
        Display::new(
            RawDisplayHandle::Windows(WindowsDisplayHandle::new()),
            DisplayApiPreference::Wgl(Some(window)),
        )
    }?;
    let template = ConfigTemplateBuilder::new().compatible_with_native_window(window).build();
    // SAFETY: the window exists until its thread ends, which holds for all calls below.
    let config = unsafe { display.find_configs(template) }?.next().ok_or("there is no configuration")?;
    let attributes = ContextAttributesBuilder::new()
        .with_profile(GlProfile::Core)
        .with_context_api(ContextApi::OpenGl(Some(Version::new(3, 3))))
        .build(Some(window));
    // SAFETY: see above.
    let context = unsafe { display.create_context(&config, &attributes) }?;
    let one = NonZeroU32::MIN;
    let attributes = SurfaceAttributesBuilder::<WindowSurface>::new().build(window, one, one);
    // SAFETY: see above.
    let surface = unsafe { display.create_window_surface(&config, &attributes) }?;
    Ok(HiddenWindow { context: context.make_current(&surface)?, surface, size })
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

// SAFETY: the functions come from the display of the context, `HiddenWindow` owns the context, and `is_current` and
// `make_current` refer to this context.
unsafe impl Backend for HiddenWindow {
    fn swap_buffers(&self) -> Result<(), SwapBuffersError> {
        Ok(())
    }

    unsafe fn get_proc_address(&self, symbol: &str) -> *const c_void {
        CString::new(symbol).map_or(ptr::null(), |name| self.context.display().get_proc_address(&name))
    }

    fn get_framebuffer_dimensions(&self) -> (u32, u32) {
        self.size
    }

    fn resize(&self, _: (u32, u32)) {}

    fn is_current(&self) -> bool {
        self.context.is_current()
    }

    unsafe fn make_current(&self) {
        if let Err(reason) = self.context.make_current(&self.surface) {
            tracing::error!("lost the OpenGL context: {reason}");
        }
    }
}
