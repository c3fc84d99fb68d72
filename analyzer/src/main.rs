//! The command `fate-analyzer`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(fate_analyzer::run(std::env::args_os(), &mut fate_analyzer::Io::system()))
}
