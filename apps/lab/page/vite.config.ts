import { defineConfig } from "vite";

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
                entryFileNames: "lab.js",
                assetFileNames: (asset) => (asset.names?.[0]?.endsWith(".css") ? "lab.css" : "[name][extname]"),
            },
        },
    },
    test: { include: ["tests/unit/**/*.test.ts"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
