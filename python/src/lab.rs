//! The lab, served from a thread of the Python process.

use crate::errors::input;
use lilyan_lab::{Address, Token, serve};
use pyo3::prelude::*;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

/// A server of the lab, on this computer alone. It ends with the process, or when it is told to.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct Lab {
    /// The address, with the secret that admits a page.
    #[pyo3(get)]
    url: String,
    stopping: Arc<AtomicBool>,
}

#[pymethods]
impl Lab {
    /// Serves a scene: a file, or the name of a built-in one. Port 0 is any free one.
    #[new]
    fn new(py: Python<'_>, scene: String, port: u16) -> PyResult<Self> {
        let token = Token::new().map_err(input)?;
        let secret = token.text().to_owned();
        let stopping = Arc::new(AtomicBool::new(false));
        let (stop, (sender, receiver)) = (stopping.clone(), mpsc::channel());
        std::thread::spawn(move || {
            let address = Address { ip: IpAddr::V4(Ipv4Addr::LOCALHOST), port };
            let opened = |here| {
                let _ = sender.send(Ok(here));
            };
            let served = serve(address, token, &scene, opened, || stop.load(Ordering::Relaxed));
            if let Err(error) = served {
                let _ = sender.send(Err(error.to_string()));
            }
        });
        let answer = py.detach(move || receiver.recv());
        let here = answer.map_err(|_| input("the lab could not be opened"))?.map_err(input)?;
        Ok(Self { url: format!("http://{here}/#token={secret}"), stopping })
    }

    /// Ends the server.
    fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}
