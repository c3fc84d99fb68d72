//! The `fate-hub` program; everything it does is in the library.

fn main() -> std::process::ExitCode {
    fate_hub::cli::run(std::env::args_os(), &mut fate_hub::cli::Io::standard()).into()
}
