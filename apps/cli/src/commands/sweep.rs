//! `lilyan sweep`.

use super::common::{default_folder, progress_bar};
use crate::failure::{CommandResult, Failure};
use crate::{output, stop_signal};
use indicatif::ProgressBar;
use lilyan_files::atomic;
use lilyan_study::run::{RunError, RunProgress, Signal};
use lilyan_study::sweep::{
    self, Attempt, EndedRun, Plan, RunState, SweepError, SweepReport, SweepRow, Variation, run_planned,
    stop_file,
};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Run a scene with many settings, on all cores or on a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan sweep cantilever --vary body.beam.material.E=1e5..1e7:log5 --vary time.step=0.01,0.005
  lilyan sweep scene.toml --vary integrator.name=verlet,energy-momentum --jobs 4 -o out/study
  lilyan sweep scene.toml --vary body.E=1e5,1e6 -o out/study --index $SLURM_ARRAY_TASK_ID

Every combination of the values is a run. plan.csv lists them, runs/ID/ has the results of each, sweep.csv a line for each, report.html \
the pictures. What is done is not done again: the same command goes on where an earlier one stopped. With --index only one run of the \
plan is done, for Slurm arrays, GNU parallel and Snakemake; the last one to end writes the table. A file called `stop` in the folder \
makes all runs stop with a checkpoint.")]
pub struct SweepArguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// A key and its values: KEY=A,B,C, KEY=LOW..HIGH:N or KEY=LOW..HIGH:logN; may be repeated
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    vary: Vec<String>,
    /// Sets a key of the scene in all runs, as in time.end=2; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Runs at the same time [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Do only this run of the plan, counted from 0
    #[arg(long, value_name = "K", conflicts_with = "jobs")]
    index: Option<usize>,
    /// Do runs again that did not finish
    #[arg(long)]
    retry: bool,
    /// Threads of each run; 0: all cores
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Folder of the results [default: out/NAME-sweep]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// The process that started this one; the run stops when that has gone
    #[arg(long, hide = true)]
    driver: Option<u32>,
}

pub fn run(arguments: &SweepArguments) -> CommandResult {
    lilyan_parallel::threads::set_threads(arguments.threads);
    let variations: Result<Vec<Variation>, SweepError> =
        arguments.vary.iter().map(|text| Variation::parse(text)).collect();
    let variations = variations.map_err(failed)?;
    let directory = arguments.output.clone().unwrap_or_else(|| default_folder(&arguments.scene, "-sweep"));
    let (name, set) = (&arguments.scene, &arguments.set);
    let known = |number| Plan::of_folder(name, set, &variations, &directory, number);
    let plan = match arguments.index.and_then(known) {
        Some(plan) => plan,
        None => {
            let plan = Plan::new(name, set, &variations).map_err(failed)?;
            std::fs::create_dir_all(&directory).map_err(|e| {
                Failure::input(format!("{}: {e}; choose another folder with -o", directory.display()))
            })?;
            plan.write(&directory).map_err(failed)?;
            plan
        }
    };
    match arguments.index {
        Some(number) => one_run(arguments, &plan, number, &directory),
        None => all_runs(arguments, &plan, &directory),
    }
}

fn failed(error: SweepError) -> Failure {
    match error {
        SweepError::Variation { .. } => Failure::input(format!("--vary {error}")),
        SweepError::Write(_) | SweepError::Run(_) => Failure::stopped(error),
        _ => Failure::input(error),
    }
}

/// How long a run may go on whose sweep was killed: it notices after its step.
const LEFT_OVER: Duration = Duration::from_secs(10);

/// `--index`: one run of the plan in this process.
fn one_run(arguments: &SweepArguments, plan: &Plan, number: usize, directory: &Path) -> CommandResult {
    let stop_file = stop_file(directory);
    let mut looked = Instant::now();
    let mut progress = |_: &RunProgress| {
        let asked = stop_signal::signal() != 0
            || looked.elapsed() > Duration::from_millis(100) && {
                looked = Instant::now();
                stop_file.exists() || arguments.driver.is_some_and(has_gone)
            };
        if asked { Signal::Stop } else { Signal::Continue }
    };
    let began = Instant::now();
    let attempt = loop {
        match run_planned(plan, number, directory, arguments.retry, &mut progress) {
            // The same run of a sweep that was killed still writes its checkpoint.
            Err(SweepError::Run(RunError::InUse(_))) if began.elapsed() < LEFT_OVER => {
                std::thread::sleep(Duration::from_millis(100));
            }
            done => break done.map_err(failed)?,
        }
    };
    if attempt == Attempt::Interrupted {
        let message = format!("run {number} is interrupted; the same command goes on from its checkpoint");
        return Err(match stop_signal::signal() {
            0 => Failure::stopped(message),
            signal => Failure::interrupted(signal as u8, message),
        });
    }
    if arguments.driver.is_some() {
        return Ok(());
    }
    let folder = plan.run(number).map_err(failed)?.folder(directory);
    let ended = EndedRun::read(&folder).map_err(failed)?;
    let count = plan.ended(directory);
    if count == plan.runs().len() {
        write(plan, &SweepReport::collect(plan, directory).map_err(failed)?, directory)?;
    }
    if arguments.json {
        output::json(&SweepRow::read(plan, number, directory).map_err(failed)?);
    } else {
        let state = ended.as_ref().map_or("", |e| e.state.name());
        output::line(format!("run {number} ({}): {state}", plan.settings(number)));
        output::line(format!("{count} of {} runs have ended", plan.runs().len()));
    }
    match ended.filter(|e| e.state != RunState::Finished) {
        Some(e) => Err(Failure::stopped(e.reason).json_printed(arguments.json)),
        None => Ok(()),
    }
}

/// Whether this process has another parent than the one that started it.
#[cfg(unix)]
fn has_gone(driver: u32) -> bool {
    std::os::unix::process::parent_id() != driver
}
#[cfg(not(unix))]
fn has_gone(_: u32) -> bool {
    false
}

/// A run in a process of its own.
struct Job {
    number: usize,
    child: Child,
}

/// All runs of the plan, each in a process of its own, so that a crash is the end of one run only.
fn all_runs(arguments: &SweepArguments, plan: &Plan, directory: &Path) -> CommandResult {
    let stop_file = stop_file(directory);
    // It is left over from a sweep that was stopped.
    let _ = std::fs::remove_file(&stop_file);
    let open = |number: usize| -> Result<bool, Failure> {
        let ended = EndedRun::read(&plan.runs()[number].folder(directory)).map_err(failed)?;
        Ok(ended.is_none_or(|e| arguments.retry && e.state != RunState::Finished))
    };
    let mut waiting = Vec::new();
    for number in (0..plan.runs().len()).rev() {
        if open(number)? {
            waiting.push(number);
        }
    }
    let total = plan.runs().len();
    let bar = progress_bar(total as u64, "{msg}  {bar:32}  run {pos}/{len}  {eta} left", arguments.json);
    let jobs = arguments.jobs.unwrap_or_else(cores).max(1);
    let (mut running, mut stopping): (Vec<Job>, bool) = (Vec::new(), false);
    let mut done = total - waiting.len();
    loop {
        if !stopping && (stop_signal::signal() != 0 || stop_file.exists()) {
            stopping = true;
            waiting.clear();
            atomic::write(&stop_file, b"").map_err(Failure::stopped)?;
        }
        while running.len() < jobs
            && let Some(number) = waiting.pop()
        {
            running.push(start(arguments, directory, number)?);
        }
        show(bar.as_ref(), done, &running);
        if running.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
        let mut rest = Vec::new();
        for mut job in running {
            match job.child.try_wait().map_err(Failure::stopped)? {
                None => rest.push(job),
                Some(status) => done += usize::from(ended(plan, directory, &job, status, stopping)?),
            }
        }
        running = rest;
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let _ = std::fs::remove_file(&stop_file);
    let report = SweepReport::collect(plan, directory).map_err(failed)?;
    write(plan, &report, directory)?;
    finish(arguments, &report, directory)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Starts this program again for one run. What it says goes into the folder of the sweep.
fn start(arguments: &SweepArguments, directory: &Path, number: usize) -> Result<Job, Failure> {
    let program = std::env::current_exe().map_err(Failure::stopped)?;
    let mut command = Command::new(program);
    command.arg("sweep").arg(&arguments.scene).arg("--output").arg(directory);
    for text in &arguments.vary {
        command.arg("--vary").arg(text);
    }
    for text in &arguments.set {
        command.arg("--set").arg(text);
    }
    if arguments.retry {
        command.arg("--retry");
    }
    command.args(["--index", &number.to_string()]);
    command.args(["--threads", &arguments.threads.to_string()]);
    command.args(["--driver", &std::process::id().to_string()]);
    let told = std::fs::File::create(log(directory, number)).map_err(Failure::stopped)?;
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(told).spawn();
    let child = child.map_err(|e| Failure::stopped(format!("starting run {number}: {e}")))?;
    Ok(Job { number, child })
}

/// Where a process says why it could not do a run.
fn log(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!(".run-{number}.log"))
}

/// Whether the run of this process has ended. A process that ended without a word is noted as a crash.
fn ended(
    plan: &Plan,
    directory: &Path,
    job: &Job,
    status: ExitStatus,
    stopping: bool,
) -> Result<bool, Failure> {
    let log = log(directory, job.number);
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    let folder = plan.runs()[job.number].folder(directory);
    if EndedRun::read(&folder).map_err(failed)?.is_some() {
        return Ok(true);
    }
    // An interrupted run has an exit status of 2 or 128 + signal, and goes on next time.
    if stopping && !crashed(status) {
        return Ok(false);
    }
    std::fs::create_dir_all(&folder).map_err(Failure::stopped)?;
    let reason = match said.trim() {
        "" => format!("the process ended with {status}"),
        said => said.trim_start_matches("lilyan: ").to_string(),
    };
    EndedRun::crashed(reason).write(&folder).map_err(failed)?;
    Ok(true)
}

/// Whether the process was ended by force or by a panic.
fn crashed(status: ExitStatus) -> bool {
    status.code().is_none_or(|code| code == 101)
}

fn show(bar: Option<&ProgressBar>, done: usize, running: &[Job]) {
    if let Some(bar) = bar {
        bar.set_position(done as u64);
        bar.set_message(format!("{} running", running.len()));
    }
}

fn write(plan: &Plan, report: &SweepReport, directory: &Path) -> CommandResult {
    sweep::write_table(report, directory).map_err(failed)?;
    sweep::write_page(plan, report, directory).map_err(failed)
}

fn finish(arguments: &SweepArguments, report: &SweepReport, directory: &Path) -> CommandResult {
    let not_finished = report.rows.len() - report.count(RunState::Finished);
    if arguments.json {
        output::json(report);
    } else {
        output::line(format!(
            "{}: {} of {} runs have ended",
            report.title,
            report.rows.len(),
            report.planned
        ));
        for row in report.rows.iter().filter(|r| r.state != RunState::Finished).take(10) {
            let values = report.keys.iter().zip(&row.values).map(|(k, v)| format!("{k}={v}"));
            let values: Vec<String> = values.collect();
            let reason = row.reason.lines().next().unwrap_or_default();
            output::line(format!(
                "✗ run {} ({}) {}: {reason}",
                row.index,
                values.join(", "),
                row.state.name()
            ));
        }
        if not_finished > 10 {
            output::line(format!("and {} more that did not finish, in sweep.csv", not_finished - 10));
        }
        output::line(format!("table: {}", directory.join("sweep.csv").display()));
        output::line(format!("report: {}", directory.join("report.html").display()));
    }
    if !report.complete() {
        let message = format!(
            "stopped with {} of {} runs done; the same command goes on",
            report.rows.len(),
            report.planned
        );
        return Err(match stop_signal::signal() {
            0 => Failure::stopped(message),
            signal => Failure::interrupted(signal as u8, message),
        }
        .json_printed(arguments.json));
    }
    match not_finished {
        0 => Ok(()),
        n => Err(Failure::stopped(format!("{n} runs did not finish; --retry does them again"))
            .json_printed(arguments.json)),
    }
}
