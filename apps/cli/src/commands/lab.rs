//! `lilyan lab`.

use super::common::load;
use crate::failure::{CommandResult, Failure};
use crate::{output, stop_signal};
use lilyan_lab::{Address, Token, serve};
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The scene that it opens with.
const FIRST: &str = "wobbling-jelly";

/// Open the lab in the browser: pull, change and compare while it moves.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  lilyan lab\n  lilyan lab cantilever --port 8000")]
pub struct LabArguments {
    /// Scene file or name of a built-in scene
    scene: Option<String>,
    /// Port of the server; 0: any free one
    #[arg(long, default_value_t = 7357)]
    port: u16,
    /// Address of the server; with another one than 127.0.0.1, other computers can reach it
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Only print the address, do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &LabArguments) -> CommandResult {
    let scene = arguments.scene.as_deref().unwrap_or(FIRST);
    // Errors of the scene are reported here, not in the browser.
    load(scene, &[])?;
    let token = Token::new().map_err(Failure::input)?;
    let secret = token.text().to_owned();
    stop_signal::keep("scenes that were not saved are lost");
    let mut doorway = None;
    let opened = |here: SocketAddr| {
        let url = format!("http://{here}/#token={secret}");
        if arguments.json {
            output::json(&serde_json::json!({ "url": url }));
        } else {
            println!("The lab is at {url}");
            println!("Ctrl-C ends it.");
        }
        if !here.ip().is_loopback() {
            eprintln!("warning: everyone who knows this address can use the lab, and it is not encrypted");
        }
        let _ = std::io::stdout().flush();
        if !arguments.no_open && !arguments.json && std::io::stdout().is_terminal() {
            doorway = open_browser(&url);
        }
    };
    let address = Address { ip: arguments.host, port: arguments.port };
    let served = serve(address, token, scene, opened, || stop_signal::signal() != 0);
    if let Some(path) = doorway {
        let _ = std::fs::remove_file(path);
    }
    served.map_err(Failure::input)
}

/// Opens the page by a file that only this user can read: the arguments of a process can be read by everyone.
fn open_browser(url: &str) -> Option<PathBuf> {
    let path = std::env::temp_dir().join(format!("lilyan-lab-{}.html", std::process::id()));
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={url}\">"
    );
    write_private(&path, &page).ok()?;
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = std::process::Stdio::null;
    let started =
        std::process::Command::new(program).arg(&path).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    started.ok().map(|_| path)
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
