import { defineConfig } from 'vitest/config'
import { compiledSources } from './scripts/lib/compiled-sources.mjs'

const conditions = ['node']
const postgres = 'packages/*/src/storage/postgres/**/*.test.ts'

type Tests = {
  include: string[]
  exclude?: string[]
  timeoutMs: number
  /** Projects of a lower order end before one of a higher order starts. */
  order: number
  workers: number
  /** Whether each file has a process of its own, for what changes the process or measures it. */
  isolate?: boolean
  /** Run before each file, also where a process runs many. */
  setup?: string[]
}

const project = (
  name: string,
  { include, exclude = [], timeoutMs, order, workers, isolate = true, setup = [] }: Tests,
) => ({
  plugins: [compiledSources()],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', '**/dist/**', ...exclude],
    pool: 'forks' as const,
    isolate,
    setupFiles: setup,
    // Tests run what ships, read by Node itself; only the tests are transformed.
    server: { deps: { external: [/\/packages\/[a-z-]+\/dist\//] } },
    maxWorkers: workers,
    sequence: { groupOrder: order },
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    // What is waited for comes soon or not at all; a busy machine is no failure.
    expect: { poll: { timeout: timeoutMs / 3, interval: 25 } },
  },
})

const unit = ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.mjs']

/** They measure, race, lay siege to a server or watch its memory: one file at a time, with both cores. */
const alone = [
  'test/attacks/{gateway,process,secrets}.test.ts',
  'test/{crash,first-minutes,memory,process,upstream-endurance}.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: './scripts/lib/build-before-tests.mjs',
    // Transformed tests are kept in `node_modules`, by their content.
    experimental: { fsModuleCache: true },
    projects: [
      project('unit', {
        include: unit,
        exclude: [postgres],
        timeoutMs: 30_000,
        order: 0,
        workers: 2,
        isolate: false,
      }),
      project('postgres', { include: [postgres], timeoutMs: 60_000, order: 1, workers: 2 }),
      project('integration', {
        include: ['packages/*/test/**/*.test.ts'],
        timeoutMs: 60_000,
        order: 1,
        workers: 2,
        isolate: false,
        setup: ['packages/cli/test/setup.ts'],
      }),
      project('e2e', {
        include: ['test/*.test.ts', 'test/{attacks,dashboard}/**/*.test.ts'],
        exclude: alone,
        timeoutMs: 180_000,
        order: 2,
        workers: 2,
      }),
      project('alone', { include: alone, timeoutMs: 180_000, order: 3, workers: 1 }),
    ],
  },
})
