//! `fate-tui` as the tests run it.

fn main() -> std::process::ExitCode {
    fate_tui::run(std::env::args_os(), &mut fate_tui::Io::standard()).into()
}
