//! The `fate-tui` program; everything it does is in the library.

fn main() -> std::process::ExitCode {
    fate_tui::run(std::env::args_os(), &mut fate_tui::Io::standard()).into()
}
