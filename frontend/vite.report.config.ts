import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { writeNotices } from "./notices.ts";

// A report is one file, opened from a disk: no modules, nothing that is loaded later.
export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [writeNotices("report.notices.txt").page],
  resolve: {
    alias: [
      {
        find: /.*\/layoutinworker$/,
        replacement: fileURLToPath(new URL("src/tools/xla/layoutonpage.ts", import.meta.url)),
      },
    ],
  },
  build: {
    outDir: "../tb_profile_plugin/static",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    chunkSizeWarningLimit: 1200,
    rollupOptions: {
      input: "src/app/report.tsx",
      transform: { define: { "import.meta": "{}" } },
      output: { format: "iife", entryFileNames: "report.js", codeSplitting: false },
    },
  },
});
