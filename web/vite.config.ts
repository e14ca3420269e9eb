import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/keypose/server/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the pages' policy allows no data in place of files
    rollupOptions: {
      output: { manualChunks: { three: ["three"] } },
    },
  },
});
