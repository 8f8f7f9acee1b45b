//! HTTP: the page, the upgrade to a WebSocket, uploads. A request without access is refused before its body is read.

#![deny(clippy::indexing_slicing)]

use crate::access::{HostNames, Token};
use crate::limits::{UPLOAD_BYTES, UPLOADS};
use crate::sessions::Sessions;
use crate::{assets, socket};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at the same time; further ones wait.
const CONNECTIONS: usize = 256;
/// Bytes of a request's headers.
const HEADER_BYTES: usize = 16 << 10;
/// Bytes of a message from a page.
const MESSAGE_BYTES: usize = 1 << 20;
/// Bytes that wait to be written to a page: one message of the largest scene.
const WRITE_BYTES: usize = 64 << 20;

/// How long a file may take to arrive.
const UPLOAD_TIME: Duration = Duration::from_secs(30);

/// The page loads nothing from elsewhere and is not shown inside other pages.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Where to listen.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// An address of this computer.
    pub ip: std::net::IpAddr,
    /// The port; 0 means any free one.
    pub port: u16,
}

/// Why the lab could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen at {0}: {1}; choose another port with --port, or 0 for any free one")]
    Listen(SocketAddr, std::io::Error),
    /// The operating system refused something else.
    #[error("cannot open the lab: {0}")]
    System(std::io::Error),
}

/// What all connections share.
#[derive(Clone)]
struct Shared {
    names: HostNames,
    token: Token,
    sessions: Arc<Sessions>,
    /// A place for each file that may be received at the same time.
    uploads: Arc<Semaphore>,
}

/// Serves the lab until `stop` returns `true`. `opened` gets the address as soon as pages can be opened.
pub fn serve(
    address: Address,
    token: Token,
    first_scene: &str,
    opened: impl FnOnce(SocketAddr),
    stop: impl Fn() -> bool,
) -> Result<(), ServeError> {
    // One thread is enough to move bytes; the other cores are for the simulations.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_io()
        .enable_time()
        .build()
        .map_err(ServeError::System)?;
    let sessions = Arc::new(Sessions::new(first_scene).map_err(ServeError::System)?);
    runtime.block_on(async {
        let wanted = SocketAddr::new(address.ip, address.port);
        let listener = TcpListener::bind(wanted).await.map_err(|e| ServeError::Listen(wanted, e))?;
        let here = listener.local_addr().map_err(ServeError::System)?;
        let uploads = Arc::new(Semaphore::new(UPLOADS));
        let shared = Shared { names: HostNames::of(here), token, sessions: sessions.clone(), uploads };
        let router = router(shared);
        opened(here);
        let accepting = tokio::spawn(accept(listener, router));
        while !stop() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        accepting.abort();
        Ok(())
    })?;
    sessions.close();
    runtime.shutdown_timeout(Duration::from_millis(250));
    Ok(())
}

async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely there are no free file descriptors until a connection ends.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new())
                .header_read_timeout(Duration::from_secs(10))
                .max_buf_size(HEADER_BYTES);
            // An error of one connection does not affect the others.
            let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
            drop(place);
        });
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/socket", get(open_socket))
        .route("/result", get(result))
        .route("/upload", post(upload))
        .fallback(page)
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Refuses requests for other hosts and from other pages. Sets the security headers of every response.
async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let mut response = if !shared.names.addressed(headers) {
        (StatusCode::FORBIDDEN, "this is not the address of the lab\n").into_response()
    } else if !shared.names.comes_from_here(headers) {
        (StatusCode::FORBIDDEN, "only the lab's own page may ask this\n").into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        // A report has its own policy.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

async fn page(uri: Uri, method: axum::http::Method) -> Response {
    if method != axum::http::Method::GET {
        return (StatusCode::METHOD_NOT_ALLOWED, "only GET\n").into_response();
    }
    match assets::find(uri.path()) {
        Some((kind, bytes)) => ([(CONTENT_TYPE, kind)], bytes).into_response(),
        None => (StatusCode::NOT_FOUND, "there is nothing here; the lab is at /\n").into_response(),
    }
}

type Parameters = Query<HashMap<String, String>>;

/// The response to a request without the token.
fn refuse_without_token(shared: &Shared, parameters: &HashMap<String, String>) -> Option<Response> {
    match parameters.get("token") {
        Some(token) if shared.token.matches(token) => None,
        _ => Some(
            (StatusCode::FORBIDDEN, "open the lab by the address that `lilyan lab` printed\n")
                .into_response(),
        ),
    }
}

async fn open_socket(
    State(shared): State<Shared>,
    Query(parameters): Parameters,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    if let Some(refused) = refuse_without_token(&shared, &parameters) {
        return refused;
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let session = match shared.sessions.enter(parameters.get("session").map(String::as_str)) {
        Ok(session) => session,
        Err(error) => return (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    };
    upgrade
        .max_message_size(MESSAGE_BYTES)
        .max_frame_size(MESSAGE_BYTES)
        .max_write_buffer_size(WRITE_BYTES)
        .on_upgrade(move |socket| socket::talk(socket, session))
}

/// A file of a job. A report is shown in a sandboxed frame of our own page; other files are downloads.
async fn result(State(shared): State<Shared>, Query(parameters): Parameters, headers: HeaderMap) -> Response {
    if let Some(refused) = refuse_without_token(&shared, &parameters) {
        return refused;
    }
    // Browsers tell which site sends the request. Other sites are refused even if they know the token.
    if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return (StatusCode::FORBIDDEN, "only the lab's own page may ask this\n").into_response();
    }
    let asked = |name: &str| parameters.get(name).map(String::as_str).unwrap_or_default();
    let found = asked("job").parse().ok();
    let found = found.and_then(|job| shared.sessions.result(asked("session"), job, asked("file")));
    let Some((kind, bytes)) = found else {
        return (StatusCode::NOT_FOUND, "there is no such result any more\n").into_response();
    };
    let mut response = ([(CONTENT_TYPE, kind)], bytes).into_response();
    if kind.starts_with("text/html") {
        let policy = format!("{}; frame-ancestors 'self'; sandbox allow-scripts", lilyan_report::policy());
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        }
    } else {
        response.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    response
}

/// Stores a file. A request without the token, or while enough others send theirs, is refused before its body is read.
async fn upload(
    State(shared): State<Shared>,
    Query(parameters): Parameters,
    _headers: HeaderMap,
    body: Body,
) -> Response {
    if let Some(refused) = refuse_without_token(&shared, &parameters) {
        return refused;
    }
    let Ok(_place) = shared.uploads.try_acquire() else {
        let text = "other files are being sent; try again when they are here\n";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let received = tokio::time::timeout(UPLOAD_TIME, axum::body::to_bytes(body, UPLOAD_BYTES)).await;
    let body = match received {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let text = format!("a file may have {} MiB at most\n", UPLOAD_BYTES >> 20);
            return (StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
        }
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the file came too slowly\n").into_response(),
    };
    let (session, name) = (parameters.get("session"), parameters.get("name"));
    let (Some(session), Some(name)) = (session, name) else {
        return (StatusCode::BAD_REQUEST, "the address needs session and name\n").into_response();
    };
    match shared.sessions.keep(session, name, &body) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    }
}
