import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

/** The service that `npm run dev` shows: the address of its dashboard. */
const service = process.env['GATEHOUSE_DASHBOARD'] ?? 'https://127.0.0.1:7800'

/** The service takes requests that change something from its own origin only. */
const headers = { origin: service }

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { conditions: ['gatehouse-source', ...defaultClientConditions] },
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // The page may load its own files only: no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Notices of the libraries in the page, which are published with it.
    license: { fileName: '.vite/third-party.json' },
    rolldownOptions: {
      checks: { pluginTimings: false },
      // The documents at /docs/ have a script and a style of their own, under fixed names.
      input: { index: 'index.html', docs: 'src/docs/site.ts' },
      output: {
        entryFileNames: ({ name }) =>
          name === 'docs' ? 'docs/site.js' : 'assets/[name]-[hash].js',
        assetFileNames: ({ names }) =>
          names.includes('docs.css') ? 'docs/site.css' : 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: { proxy: { '/api': { target: service, secure: false, changeOrigin: true, headers } } },
})
