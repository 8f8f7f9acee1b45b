// Every test of the page in one process, so that they share a program and a browser.
//   npm run e2e              all
//   npm run e2e -- touch     those of files whose names begin so
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after } from "node:test";
import { stopShared } from "./lab.mjs";

const begins = process.argv.slice(2);
const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".test.mjs")).toSorted();
for (const file of files) if (begins.length === 0 || begins.some((begin) => file.startsWith(begin))) await import(`./${file}`);
after(async () => assert.equal(await stopShared(), 0, "the program ends cleanly on Ctrl-C"));
