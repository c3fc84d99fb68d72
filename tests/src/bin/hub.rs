//! `fate-hub` as the tests run it.

fn main() -> std::process::ExitCode {
    fate_hub::cli::run(std::env::args_os(), &mut fate_hub::cli::Io::standard()).into()
}
