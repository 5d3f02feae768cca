import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const bundle = fileURLToPath(new URL('dist/bundle', import.meta.url))
const ownCode = /\/packages\/[a-z-]+\/dist\//

/** Files that code finds beside itself, such as the programs of threads, stay where it was compiled. */
const keepPlaces = () => ({
  name: 'keep-places',
  transform: {
    filter: { id: ownCode, code: 'import.meta.url' },
    handler(code, id) {
      const place = path.relative(bundle, id).split(path.sep).join('/')
      return code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`)
    },
  },
})

/**
 * The command with the server and its libraries as few files: a start that reads 1,400 modules spends two thirds of its
 * processor time on finding and linking them. Natives stay beside it.
 */
export default defineConfig({
  plugins: [keepPlaces()],
  ssr: { noExternal: true, external: ['@node-rs/argon2', '@photostructure/sqlite', 'pg-native'] },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist/bundle',
    // A service that runs meanwhile loads more of its own build later; `npm run build` clears up.
    emptyOutDir: false,
    manifest: true,
    minify: false,
    // Notices of the libraries in it, which are published with it.
    license: { fileName: '.vite/third-party.json' },
    rolldownOptions: {
      input: {
        main: 'dist/main.js',
        'hook-rest': 'dist/hook-rest.js',
        'gate-main': 'dist/gate-main.js',
      },
      checks: { ineffectiveDynamicImport: false, pluginTimings: false },
      output: {
        entryFileNames: '[name].js',
        // What every start needs is one file, which would be named after any of its modules.
        chunkFileNames: ({ moduleIds }) =>
          moduleIds.length > 300 ? 'server-[hash].js' : '[name]-[hash].js',
        // A process keeps the text of its code: without comments that is a third less.
        comments: false,
      },
    },
  },
})
