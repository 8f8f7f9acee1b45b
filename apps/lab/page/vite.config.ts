import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The licence of three.js, which the bundle contains, asks to be kept with every copy.
const licence = readFileSync(new URL("node_modules/three/LICENSE", import.meta.url), "utf8").trim();

// Few files under fixed names: the program embeds them, and the same source gives the same bytes.
export default defineConfig({
    base: "./",
    build: {
        target: "es2022",
        outDir: "dist",
        assetsInlineLimit: 0,
        modulePreload: false,
        chunkSizeWarningLimit: 1500,
        rolldownOptions: {
            output: {
                codeSplitting: false,
                postBanner: `/*! three.js\n\n${licence}\n*/`,
                entryFileNames: "lab.js",
                assetFileNames: (asset) => (asset.names?.[0]?.endsWith(".css") ? "lab.css" : "[name][extname]"),
            },
        },
    },
    test: { include: ["tests/unit/**/*.test.ts"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
