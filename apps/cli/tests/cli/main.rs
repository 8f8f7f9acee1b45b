//! The program as its users meet it: arguments in, files and exit status out.

mod catalogues;
mod coarsen;
mod common;
mod compare;
mod diagnose;
<<<<<<< HEAD
mod faults;
=======
mod exchange;
>>>>>>> 2166a5f8dc6a04d2d8f2f3e0b6496cf102c1d273
mod licenses;
mod resume;
mod run;
mod stopping;
mod sweep;
mod verbose;
mod wrong;
