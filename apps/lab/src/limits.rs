//! How much the lab accepts. The page is told most of these numbers in `hello`.

/// Sessions that are open at the same time.
pub const SESSIONS: usize = 16;
/// Pages that are connected at the same time, over all sessions.
pub const CLIENTS: usize = 200;
/// Events that may wait for one page. A page that is further behind is disconnected.
pub const EVENTS: usize = 256;
/// Messages that may wait for one session.
pub const INBOX: usize = 1024;
/// Size of an uploaded file, bytes.
pub const UPLOAD_BYTES: usize = 64 << 20;
/// Files that are received at the same time.
pub const UPLOADS: usize = 8;
/// Size of all files that a session keeps, bytes.
pub const SESSION_BYTES: u64 = 256 << 20;
/// Elements of all panes of a session together.
pub const ELEMENTS: usize = 400_000;
/// Panes of a session.
pub const PANES: usize = 5;
/// Elements of a scene that is compared: each run has to end while the user waits.
pub const COMPARE_ELEMENTS: usize = 50_000;
/// Elements of a fine body that is coarsened: its displacements are computed with a direct solver.
pub const COARSEN_ELEMENTS: usize = 100_000;
/// Tets of a coarse body.
pub const COARSE_TETS: usize = 20_000;
