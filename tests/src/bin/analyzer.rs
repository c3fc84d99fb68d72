//! `fate-analyzer` as the tests run it.

fn main() -> std::process::ExitCode {
    fate_analyzer::run(std::env::args_os(), &mut fate_analyzer::Io::system()).into()
}
