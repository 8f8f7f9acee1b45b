// Starts the real program and a real browser, and gives the tests hands and eyes.
//
// LILYAN: the program (default: ../../../target/debug/lilyan). CHROMIUM: the browser (default: /usr/bin/chromium).
// SHOTS: a folder for screenshots; without it none are taken.
// LILYAN_PAGE=dist serves dist/ in place of the page inside the program, for work on the page.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PROGRAM = process.env.LILYAN ?? here("../../../../../target/debug/lilyan");
const { SHOTS } = process.env;
/** How long a page may take for anything, ms: a busy machine is slow, and what goes wrong is seldom. */
const PATIENCE = 180_000;
/** Pixels cost time where there is no graphics card. */
export const SIZE = { width: 1100, height: 760 };
const FLAGS = [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    // A page that is put in place of another has no address of its own, and could not talk to this computer.
    ...(process.env.LILYAN_PAGE === "dist" ? ["--disable-features=LocalNetworkAccessChecks"] : []),
];

/** The program, listening; `stop` ends it. */
export async function startProgram(scene = [], port = 0) {
    const child = spawn(PROGRAM, ["lab", ...scene, "--port", String(port), "--no-open", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
    const url = await new Promise((resolve, reject) => {
        let text = "";
        child.stdout.on("data", (part) => {
            text += part;
            const found = /"url":\s*"([^"]+)"/.exec(text);
            if (found) resolve(found[1]);
        });
        child.on("error", reject);
        child.on("exit", (code) => reject(new Error(`the program ended with status ${code} before it listened`)));
    });
    const stop = () => new Promise((resolve) => {
        if (child.exitCode !== null) return resolve(child.exitCode);
        child.on("exit", resolve);
        child.kill("SIGINT");
    });
    return { url, origin: new URL(url).origin, token: new URLSearchParams(new URL(url).hash.slice(1)).get("token"), stop, child };
}

export function startBrowser(flags = [], options = {}) {
    return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: [...FLAGS, ...flags], ...options });
}

/** One program and one browser serve all tests. */
let commonProgram = null;
let commonBrowser = null;
export const theProgram = () => (commonProgram ??= startProgram());
export const theBrowser = () => (commonBrowser ??= startBrowser());

/** A page with a session of its own, and a built-in scene in it; `lab.leave` closes it. */
export async function share(scene) {
    const [program, browser] = await Promise.all([theProgram(), theBrowser()]);
    const lab = await openPage(browser, program.url);
    if (scene) await lab.scene(scene);
    return { program, browser, lab };
}

/** Ends what was shared; the exit status of the program. */
export async function stopShared() {
    await (await commonBrowser)?.close();
    return commonProgram ? (await commonProgram).stop() : 0;
}

/** A page of the lab with hands. What goes wrong in it is collected in `problems`. */
export async function openPage(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: "dark", acceptDownloads: true, ...options });
    if (process.env.LILYAN_PAGE === "dist") await replacePage(context, new URL(url).origin);
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(error.stack ?? String(error)));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    await page.goto(url);
    const lab = new Hands(page, problems);
    await lab.until(() => window.lilyan?.lab.frames.length > 0, "a first frame");
    return lab;
}

async function replacePage(context, origin) {
    const types = { "/": ["index.html", "text/html"], "/lab.js": ["lab.js", "text/javascript"], "/lab.css": ["lab.css", "text/css"] };
    for (const [path, [file, contentType]] of Object.entries(types)) {
        await context.route(origin + path, (route) => route.fulfill({ contentType, body: readFileSync(here(`../../dist/${file}`)) }));
    }
}

export class Hands {
    constructor(page, problems) {
        this.page = page;
        this.problems = problems;
    }

    /** Closes the page, so that it draws no more. */
    leave() {
        return this.page.context().close();
    }

    /** Waits until `check` is true in the page. */
    async until(check, what, argument) {
        try {
            return await (await this.page.waitForFunction(check, argument, { timeout: PATIENCE, polling: 30 })).jsonValue();
        } catch (error) {
            throw new Error(`waited in vain for ${what}: ${error.message}\n${this.problems.join("\n")}`);
        }
    }

    /** A value from inside the page. */
    read(get, argument) {
        return this.page.evaluate(get, argument);
    }

    /** Waits until the text of a control matches: the page draws it some frames after the message that changes it. */
    async says(name, pattern) {
        const matches = ([name, source]) => new RegExp(source).test(document.querySelector(`[data-test="${name}"]`)?.textContent ?? "");
        await this.until(matches, `${name} to say ${pattern}`, [name, pattern.source]);
    }

    control(name) {
        return this.page.locator(`[data-test="${name}"]`);
    }

    async click(name) {
        await this.control(name).click();
    }

    async choose(name, value) {
        await this.control(name).selectOption(value);
    }

    /** Types a number beside a slider. */
    async type(name, value) {
        const field = this.control(name);
        await field.fill(String(value));
        await field.press("Enter");
    }

    async open(panel) {
        const fold = this.control(panel);
        if ((await fold.getAttribute("open")) === null) await fold.locator("summary").first().click();
    }

    /** The simulation stands still, and so does what the page knows of it. */
    async still() {
        await this.pause();
        let before = NaN;
        for (;;) {
            const { step } = await this.frame();
            if (step === before) return;
            before = step;
            await this.drawn();
            await this.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 60)));
        }
    }

    /** Opens a scene from the list, at rest at t = 0 unless told otherwise. */
    async scene(name, running = true) {
        const before = await this.read(() => window.lilyan.lab.version);
        // The scene that is shown already would not be chosen again.
        if ((await this.control("scene").inputValue()) === name) await this.choose("scene", "");
        await this.choose("scene", name);
        await this.newer(before, `scene ${name}`);
        if (!running) await this.pause();
    }

    /** A geometry after that of version `before`, and a frame of it. */
    newer(before, what) {
        return this.until((old) => window.lilyan.lab.version !== old && window.lilyan.lab.frameVersion === window.lilyan.lab.version, what, before);
    }

    /** Does something that changes a setting, and waits until the simulation has it. */
    async change(action, what = "the change") {
        const before = await this.read(() => window.lilyan.lab.version);
        await action();
        await this.newer(before, what);
    }

    async pause() {
        if (await this.read(() => window.lilyan.lab.status.running)) await this.click("play");
        await this.until(() => !window.lilyan.lab.status.running, "a pause");
    }

    /** A setting of a pane's scene, by its path. */
    setting(path, pane = 0) {
        return this.read(([keys, k]) => keys.split(".").reduce((value, key) => value?.[key], window.lilyan.lab.panes[k].scene), [path, pane]);
    }

    frame(pane = 0) {
        return this.read((k) => {
            const { positions, field, forces, contacts, ...info } = window.lilyan.lab.frames[k];
            return { ...info, vertices: positions.length / 3, shaded: field?.length ?? 0, forces: forces?.length ?? 0, contacts: contacts?.length ?? 0 };
        }, pane);
    }

    /** Where a vertex, or the middle of the body, is on the screen. */
    place(pane = 0, vertex = -1) {
        return this.read(([k, v]) => {
            const { view } = window.lilyan;
            const at = view.panes[k].center.clone();
            if (v >= 0) view.vertex(k, v, at);
            const box = view.canvas.getBoundingClientRect();
            const seen = view.project(k, at);
            return { x: seen.x + box.left, y: seen.y + box.top };
        }, [pane, vertex]);
    }

    /** Drags with the mouse by so many pixels; the button is down while `during` runs. */
    async drag(from, dx, dy, during = async () => {}) {
        const { mouse } = this.page;
        await mouse.move(from.x, from.y);
        await mouse.down();
        await mouse.move(from.x + dx / 2, from.y + dy / 2);
        await mouse.move(from.x + dx, from.y + dy);
        await during();
        await mouse.up();
    }

    /** Moves a slider with its keys, as a hand would. */
    async slide(name, presses) {
        const range = this.control(name);
        await range.focus();
        for (let k = 0; k < Math.abs(presses); k++) await this.page.keyboard.press(presses > 0 ? "PageUp" : "PageDown");
    }

    /** Two pictures that begin after now, so that the last change is seen. */
    drawn() {
        return this.read(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    }

    async shot(name) {
        if (!SHOTS) return;
        await this.drawn();
        mkdirSync(SHOTS, { recursive: true });
        await this.page.screenshot({ path: `${SHOTS}/${name}.png` });
    }

    /** Frames until the simulation has gone on by `seconds`. */
    async letPass(seconds, pane = 0) {
        const start = (await this.frame(pane)).t;
        await this.until(([k, end]) => window.lilyan.lab.frames[k].t >= end, `${seconds} s of motion`, [pane, start + seconds]);
    }
}
