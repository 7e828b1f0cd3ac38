import { defineConfig } from "vitest/config";
import { writeNotices } from "./notices.ts";

const notices = writeNotices("notices.txt");

// TensorBoard imports index.js by name and calls render(); everything else is found relative to it,
// so a path prefix or a proxy needs no configuration.
export default defineConfig({
  base: "./",
  plugins: [notices.page],
  build: {
    outDir: "../tb_profile_plugin/static",
    emptyOutDir: true,
    target: "es2022",
    // TensorBoard's CSP forbids data: and blob: scripts, so nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: false,
    chunkSizeWarningLimit: 700, // Only the charts are that large, and they come lazily.
    rollupOptions: {
      input: { index: "src/app/index.tsx" },
      preserveEntrySignatures: "exports-only",
      output: {
        entryFileNames: "index.js",
        chunkFileNames: "static/[name]-[hash].js",
        assetFileNames: "static/[name]-[hash][extname]",
      },
    },
  },
  worker: {
    format: "es",
    plugins: () => [notices.worker],
    rollupOptions: { output: { entryFileNames: "static/[name]-[hash].js" } },
  },
  // One document for all files of tests: making one for each takes four times as long as the tests.
  test: { environment: "happy-dom", isolate: false, include: ["test/**/*.test.{ts,tsx}"] },
});
