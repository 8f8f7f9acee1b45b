//! The program as its users meet it: arguments in, files and exit status out.

mod catalogues;
mod coarsen;
mod common;
mod compare;
mod diagnose;
mod exchange;
mod faults;
mod licenses;
mod resume;
mod run;
mod stopping;
mod sweep;
mod verbose;
mod wrong;
