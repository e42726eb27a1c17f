//! Runs third-party code on a stack of its own, and turns its crashes into errors.
//!
//! glslang and SPIRV-Cross are C++: for some inputs they read where no memory is, or end by an assertion. The handler of
//! such a signal abandons the stack and returns to the caller. What the code had allocated stays allocated.

use corosensei::ScopedCoroutine;
use corosensei::stack::DefaultStack;
use corosensei::trap::{CoroutineTrapHandler, TrapHandlerRegs};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The signals of a crash, with their names.
const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
];

thread_local! {
    /// The stack that this thread runs on.
    static RUNNING: Cell<Option<CoroutineTrapHandler<()>>> = const { Cell::new(None) };
    /// The last signal that ended work on this thread.
    static SIGNAL: Cell<c_int> = const { Cell::new(0) };
}

/// What handled each signal before.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// Runs work on a stack of this many bytes.
///
/// # Errors
/// The name of the signal that ended it; why there is no stack.
pub(crate) fn on_stack<T>(bytes: usize, work: impl FnOnce() -> T) -> Result<T, String> {
    BEFORE.get_or_init(|| SIGNALS.map(|(signal, _)| handle(signal)));
    let stack = DefaultStack::new(bytes).map_err(|error| error.to_string())?;
    let mut outcome = None;
    let routine = ScopedCoroutine::<(), (), (), DefaultStack>::with_stack(stack, |_, ()| outcome = Some(work()));
    routine.scope(|mut routine| {
        let before = RUNNING.replace(Some(routine.trap_handler()));
        routine.as_mut().resume(());
        RUNNING.set(before);
    });
    outcome.ok_or_else(|| {
        let name = SIGNALS.iter().find(|(signal, _)| *signal == SIGNAL.get());
        name.map_or("a signal", |(_, name)| name).to_owned()
    })
}

/// Installs the handler of a signal; returns the one before.
fn handle(signal: c_int) -> libc::sigaction {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: an action of zeros is a valid one, and the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, before.as_mut_ptr());
        before.assume_init()
    }
}

/// Abandons the stack that the thread runs on; outside of one hands the signal on to the handler before.
///
/// # Safety
/// Called by the system as the handler of a signal.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a context with SA_SIGINFO.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    if let Some(running) = RUNNING
        .get()
        .filter(|running| running.stack_ptr_in_bounds(stack_pointer(context)))
    {
        SIGNAL.set(signal);
        // SAFETY: the stack pointer is in the coroutine, which its scope keeps alive, and the registers are set. What the
        // code has left half done is its own: its results are not used, and its memory is not freed.
        let registers = unsafe { running.setup_trap_handler(|| ()) };
        resume_at(context, &registers);
        return;
    }
    let at = SIGNALS.iter().position(|(number, _)| *number == signal);
    if let Some(before) = at.and_then(|at| BEFORE.get()?.get(at)) {
        // SAFETY: the action is the one that the system returned.
        unsafe { libc::sigaction(signal, before, null_mut()) };
    }
    // An instruction that faults does so again; others send the signal once.
    // SAFETY: the system passes the information; raising a signal is allowed in a handler.
    unsafe {
        if (*info).si_code <= 0 {
            libc::raise(signal);
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn resume_at(context: &mut libc::ucontext_t, registers: &TrapHandlerRegs) {
    let TrapHandlerRegs {
        rip,
        rsp,
        rbp,
        rdi,
        rsi,
    } = *registers;
    for (register, value) in [
        (libc::REG_RIP, rip),
        (libc::REG_RSP, rsp),
        (libc::REG_RBP, rbp),
        (libc::REG_RDI, rdi),
        (libc::REG_RSI, rsi),
    ] {
        context.uc_mcontext.gregs[register as usize] = value as i64;
    }
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}

#[cfg(target_arch = "aarch64")]
fn resume_at(context: &mut libc::ucontext_t, registers: &TrapHandlerRegs) {
    let TrapHandlerRegs {
        pc,
        sp,
        x0,
        x1,
        x29,
        lr,
    } = *registers;
    (context.uc_mcontext.pc, context.uc_mcontext.sp) = (pc, sp);
    for (register, value) in [(0, x0), (1, x1), (29, x29), (30, lr)] {
        context.uc_mcontext.regs[register] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::on_stack;
    use std::hint::black_box;

    /// Calls itself without end.
    fn endless(depth: usize) -> usize {
        let locals = black_box([depth as u8; 256]);
        match depth {
            usize::MAX => 0,
            _ => endless(black_box(depth + 1)) + usize::from(locals[depth % 256]),
        }
    }

    #[test]
    fn crashes_are_errors_and_the_thread_goes_on() {
        let nothing = std::ptr::without_provenance::<u8>(8);
        for _ in 0..3 {
            // SAFETY: nothing is there; the signal is what is tested.
            let read = on_stack(1 << 16, || unsafe { black_box(nothing).read_volatile() });
            assert_eq!(read, Err("SIGSEGV".to_owned()));
            assert_eq!(on_stack(1 << 16, || endless(0)), Err("SIGSEGV".to_owned()));
            let aborted: Result<(), String> = on_stack(1 << 16, || std::process::abort());
            assert_eq!(aborted, Err("SIGABRT".to_owned()));
            // The outer work goes on behind a crash of the inner.
            let nested = on_stack(1 << 18, || (on_stack(1 << 16, || endless(0)), 7));
            assert_eq!(nested, Ok((Err("SIGSEGV".to_owned()), 7)));
            assert_eq!(on_stack(1 << 16, || 5), Ok(5));
        }
    }
}
