//! A thread that forbids itself every system call but writing: whatever it does from then on without
//! being killed, it does without the kernel.
//!
//! The calls that do this have no safe form in any library of the workspace. They take two numbers and
//! a list of rules that outlives them, and can only take rights away. (The older, simpler strict mode
//! will not do: it forbids the time stamp counter as well.)
#![allow(unsafe_code)]

use std::io;

/// Seals the calling thread, for good: the kernel kills the process at its next system call other than
/// `write`.
///
/// # Errors
/// Where the kernel has no secure computing mode.
#[cfg(target_os = "linux")]
pub fn seal() -> io::Result<()> {
    // The classic Berkeley packet filter, over the kernel's `seccomp_data`, whose first word is the number
    // of the call.
    let rule = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut rules = [
        rule(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        rule(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_write as u32),
        rule(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        rule(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
    ];
    let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
    // SAFETY: the first call takes numbers only. The second reads `program` and its rules, which live until
    // it returns; the kernel keeps a copy of its own.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Seals nothing: only Linux can.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn seal() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
