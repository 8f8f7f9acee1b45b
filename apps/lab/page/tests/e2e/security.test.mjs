// A page from elsewhere gets nothing and changes nothing (in a real browser).
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { openPage, startBrowser, theProgram } from "./lab.mjs";

describe("Security", () => {
    let program, browser, evil, lab, port;
    before(async () => {
        program = await theProgram();
        port = new URL(program.url).port;
        evil = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>elsewhere</title>"));
        await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
        // Names that are made to point here, as an attacker's would; and nothing of the browser's own protection, so that it is ours that is tested.
        browser = await startBrowser(["--host-resolver-rules=MAP evil.test 127.0.0.1,MAP *.evil.test 127.0.0.1", "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"]);
        lab = await openPage(browser, program.url);
    });
    after(async () => {
        await browser?.close();
        evil?.close();
    });

    /** Opens a page of another origin. */
    async function elsewhere(origin) {
        const page = await (await browser.newContext()).newPage();
        await page.goto(origin);
        return page;
    }

    /** What another page can read of the lab; and what it tries to change. */
    const attack = ([origin, token, session]) => {
        const host = origin.replace("http://", "");
        const socket = (query) => new Promise((resolve) => {
            let bytes = 0;
            const connection = new WebSocket(`ws://${host}/socket${query}`);
            connection.onmessage = ({ data }) => void (bytes += data.length ?? data.size ?? 1);
            connection.onopen = () => connection.send('{"do":"set","pane":null,"changes":[{"path":"body.0.material.E","value":7}]}');
            connection.onclose = () => resolve(bytes);
            setTimeout(() => resolve(bytes), 3000);
        });
        const read = async (path, options) => {
            try {
                const answer = await fetch(origin + path, options);
                return answer.type === "opaque" ? 0 : (await answer.text()).length;
            } catch {
                return 0;
            }
        };
        const script = () => new Promise((resolve) => {
            const element = document.createElement("script");
            element.src = `${origin}/lab.js`;
            element.onload = () => resolve(Object.keys(window).includes("lilyan") ? 1 : 0);
            element.onerror = () => resolve(0);
            document.head.append(element);
        });
        const frame = () => new Promise((resolve) => {
            const element = document.createElement("iframe");
            element.src = `${origin}/`;
            element.onload = () => {
                try {
                    resolve(element.contentDocument?.body?.children.length ?? 0);
                } catch {
                    resolve(0);
                }
            };
            document.body.append(element);
        });
        const form = () => new Promise((resolve) => {
            const element = document.createElement("form");
            element.method = "POST";
            element.enctype = "text/plain";
            element.action = `${origin}/upload?token=${token}&session=${session}&name=evil.mesh`;
            element.target = "sink";
            const sink = document.createElement("iframe");
            sink.name = "sink";
            sink.onload = () => resolve(0);
            document.body.append(sink, element);
            element.submit();
            setTimeout(() => resolve(0), 1500);
        });
        const result = `/result?token=${token}&session=${session}&job=1&file=report.html`;
        const shown = () => new Promise((resolve) => {
            const element = document.createElement("iframe");
            element.src = origin + result;
            element.onload = () => {
                try {
                    resolve(element.contentDocument?.body?.textContent.length ?? 0);
                } catch {
                    resolve(0);
                }
            };
            document.body.append(element);
        });
        const upload = `/upload?token=${token}&session=${session}&name=evil.mesh`;
        return Promise.all([
            socket(""), socket(`?token=${token}`), socket(`?token=${token}&session=${session}`), read("/"), read("/lab.js"), read("/", { mode: "no-cors" }),
            read(upload, { method: "POST", body: "x" }), read(upload, { method: "POST", body: "x", mode: "no-cors" }), script(), frame(), form(),
            read(result), read(result, { mode: "no-cors" }), shown(),
        ]);
    };

    test("it listens on this computer alone, and the token is in no list of processes", { skip: process.platform !== "linux" }, () => {
        const { pid } = program.child;
        const listening = ["tcp", "tcp6"].flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, "utf8").split("\n").slice(1))
            .map((line) => line.trim().split(/\s+/)).filter(([, local, , state]) => state === "0A" && local.endsWith(`:${Number(port).toString(16).toUpperCase().padStart(4, "0")}`));
        assert.deepEqual(listening.map(([, local]) => local.split(":")[0]), ["0100007F"]);
        assert.ok(/^[0-9a-f]{64}$/.test(program.token), "256 bits");
        for (const process of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
            for (const file of ["cmdline", "environ"]) {
                let text = "";
                try {
                    text = readFileSync(`/proc/${process}/${file}`, "utf8");
                } catch {
                    // Gone, or of another user.
                }
                assert.ok(!text.includes(program.token), `${file} of process ${process}`);
            }
        }
    });

    test("another origin reads nothing and changes nothing, even with a stolen token", async () => {
        const session = await lab.read(() => sessionStorage.getItem("lilyan.session"));
        const before = await lab.setting("body.0.material.E");
        for (const origin of [`http://127.0.0.1:${evil.address().port}`, `http://evil.test:${evil.address().port}`]) {
            const page = await elsewhere(origin);
            const got = await page.evaluate(attack, [program.origin, program.token, session]);
            assert.deepEqual(got, got.map(() => 0), `${origin} read ${got}`);
            await page.context().close();
        }
        assert.equal(await lab.setting("body.0.material.E"), before);
        await lab.control("scene").focus();
        await lab.read(() => window.lilyan.lab.send({ do: "mesh", name: "evil.mesh" }));
        await lab.until(() => /no file/.test(document.querySelector("[data-test=messages]").textContent), "that no file was kept");
    });

    test("a name that is made to point here gets nothing", async () => {
        for (const name of ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test"]) {
            const page = await (await browser.newContext()).newPage();
            const answer = await page.goto(`http://${name}:${port}/`);
            assert.equal(answer.status(), 403);
            const got = await page.evaluate(attack, [`http://${name}:${port}`, program.token, "x"]);
            // What the refusal says is all there is to read.
            const refusal = "this is not the address of the lab\n".length;
            assert.ok(got.slice(0, 3).every((bytes) => bytes === 0) && got.slice(3).every((bytes) => bytes <= refusal), `${name} read ${got}`);
            await page.context().close();
        }
    });

    test("the headers keep the page to itself, and the page lives within them", async () => {
        const answer = await lab.page.request.get(`${program.origin}/`);
        const headers = answer.headers();
        assert.match(headers["content-security-policy"], /default-src 'self'/);
        assert.match(headers["content-security-policy"], /frame-ancestors 'none'/);
        assert.doesNotMatch(headers["content-security-policy"], /unsafe/);
        assert.equal(headers["x-content-type-options"], "nosniff");
        assert.equal(headers["access-control-allow-origin"], undefined);
        assert.deepEqual(lab.problems.filter((text) => /Content Security Policy/.test(text)), []);
    });

    test("the page asks nobody else for anything", async () => {
        const context = await browser.newContext();
        const page = await context.newPage();
        const hosts = new Set();
        page.on("request", (request) => hosts.add(new URL(request.url()).host));
        await page.goto(program.url);
        await page.waitForFunction(() => window.lilyan?.lab.frames.length > 0);
        assert.deepEqual([...hosts], [new URL(program.url).host]);
        await context.close();
    });
});
