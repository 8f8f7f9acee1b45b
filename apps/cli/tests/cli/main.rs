//! The program as its users meet it: arguments in, files and exit status out.

mod catalogues;
mod common;
mod compare;
mod diagnose;
mod resume;
mod run;
mod wrong;
