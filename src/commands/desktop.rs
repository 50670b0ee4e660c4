//! Start-up on Windows: closes the console window that the desktop opens, shows errors in a message box, and ends the
//! program silently when the reader of its output closes the pipe.
//!
//! The program belongs to the console subsystem, so that cmd and PowerShell wait for it and receive its output and exit code.
//! For such a program, the desktop opens a console window, unless Windows obeys `consoleAllocationPolicy` in the program's
//! manifest (`scripts/packages/windows`).

use std::io::IsTerminal;
use std::{panic, process, ptr};

use windows_sys::Win32::System::Console::{
    FreeConsole, GetConsoleProcessList, GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
    SetStdHandle,
};
use windows_sys::Win32::UI::WindowsAndMessaging::{MB_ICONERROR, MB_OK, MessageBoxW};
use windows_sys::w;

/// Closes the console window if the desktop opened it for this program alone. Returns whether the program's error
/// messages now go nowhere.
pub fn leave_console() -> bool {
    let mut processes = [0; 2];
    // SAFETY: the list has room for as many processes as the call is told. The other calls have no pointers to memory.
    unsafe {
        match GetConsoleProcessList(processes.as_mut_ptr(), processes.len() as u32) {
            // No console: the output may still go to a file or a pipe.
            0 => GetStdHandle(STD_ERROR_HANDLE).is_null(),
            1 if std::io::stderr().is_terminal() => {
                FreeConsole();
                // The handles are closed now, and their numbers may be used again for other files.
                for name in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
                    SetStdHandle(name, ptr::null_mut());
                }
                true
            }
            _ => false,
        }
    }
}

/// Makes the program end without a message when nobody reads its output any more. For example, the reader of
/// `gravitile devices | more` may end first; `println!` would then panic. Other systems end the program by SIGPIPE.
pub fn end_when_output_closes() {
    // ERROR_BROKEN_PIPE, ERROR_NO_DATA and, under Wine, ERROR_PIPE_NOT_CONNECTED.
    const CLOSED: [&str; 3] = ["(os error 109)", "(os error 232)", "(os error 233)"];
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout") && CLOSED.iter().any(|end| message.ends_with(end))
        {
            process::exit(1);
        }
        report(panic);
    }));
}

/// Shows an error in a message box, and waits until the user closes the box.
pub fn show_error(message: &str) {
    let message: Vec<u16> = message.encode_utf16().chain([0]).collect();
    // SAFETY: both texts end with a zero and outlive the call. A null pointer stands for no owner.
    unsafe { MessageBoxW(ptr::null_mut(), message.as_ptr(), w!("gravitile"), MB_OK | MB_ICONERROR) };
}
