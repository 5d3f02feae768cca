import { defineConfig } from 'vite'

/** Loaded where a hook decides nothing, or its line is no plain one: with what the other commands have. */
const rest = './hook-rest.js'

/**
 * `gatehouse hook` alone, as one CommonJS file: a client waits for it before each of its tools, and the loader of modules
 * takes a tenth of its time.
 */
export default defineConfig({
  plugins: [
    {
      name: 'rest-in-the-bundle',
      enforce: 'pre',
      resolveDynamicImport: (specifier) =>
        typeof specifier === 'string' && /\/(?:blocked|parse)\.js$/.test(specifier)
          ? { id: rest, external: true }
          : null,
    },
  ],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist/bundle',
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      input: { 'hook-main': 'dist/hook-main.js' },
      checks: { ineffectiveDynamicImport: false, pluginTimings: false },
      output: { format: 'cjs', entryFileNames: '[name].cjs', comments: false },
    },
  },
})
