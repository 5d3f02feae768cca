// A hook of Node's loader: a TypeScript program as one module, from the sources of this repository.
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

// The one that the test runner itself reads sources with.
const vitest = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'))
const vite = createRequire(vitest.resolve('vite'))
const { rolldown } = await import(pathToFileURL(vite.resolve('rolldown')).href)

/** Syntax that this Node lacks comes with helpers, which the bundler has in itself. */
const own = /^([./]|@gatehouse\/|@oxc-project\/runtime)/

export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context)
  const bundle = await rolldown({
    input: fileURLToPath(url),
    platform: 'node',
    external: (id) => !own.test(id),
    resolve: { conditionNames: ['gatehouse-source', 'node', 'import', 'default'] },
    transform: { target: 'node20' },
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return { format: 'module', source: output[0].code, shortCircuit: true }
}
