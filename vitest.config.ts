import { defineConfig } from 'vitest/config'
import { compiledSources } from './scripts/lib/compiled-sources.mjs'
import { LongestFirst } from './scripts/lib/longest-first.mjs'
import { testLimits } from './scripts/lib/test-limits.mjs'

const conditions = ['node']
/** More than the two cores of the smallest machine: tests wait for programs and disks about a quarter of their time. */
const workers = 3
const postgres = 'packages/*/src/storage/postgres/**/*.test.ts'

type Tests = {
  include: string[]
  exclude?: string[]
  timeoutMs: number
  /** Whether each file has a process of its own, for what changes the process or measures it. */
  isolate?: boolean
  /** What files that leave something in the folder for temporary files get: services that tests kill leave some. */
  left?: 'fails' | 'is told'
  /** Run before each file, also where a process runs many. */
  setup?: string[]
}

const project = (
  name: string,
  { include, exclude = [], timeoutMs, isolate = true, left = 'is told', setup = [] }: Tests,
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
    env: { GATEHOUSE_TEST_LEFT: left },
    setupFiles: ['scripts/lib/folders-of-file.mjs', ...setup],
    // Tests run what ships, read by Node itself; only the tests are transformed.
    server: { deps: { external: [/\/packages\/[a-z-]+\/dist\//] } },
    maxWorkers: workers,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    // What is waited for comes soon or not at all; a busy machine is no failure.
    expect: { poll: { timeout: timeoutMs / 3, interval: 25 } },
  },
})

/** Before each file that may ask for a program. */
const awaitPrograms = 'scripts/lib/await-programs.mjs'

const unit = ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.mjs']

export default defineConfig({
  test: {
    globalSetup: ['./scripts/lib/build-before-tests.mjs', './scripts/lib/folders-of-run.mjs'],
    sequence: { sequencer: LongestFirst },
    // Transformed tests are kept in `node_modules`, by their content.
    experimental: { fsModuleCache: true },
    projects: [
      project('unit', {
        include: unit,
        exclude: [postgres],
        timeoutMs: testLimits.unit,
        isolate: false,
        left: 'fails',
      }),
      project('postgres', {
        include: [postgres],
        timeoutMs: testLimits.postgres,
        setup: [awaitPrograms],
      }),
      project('integration', {
        include: ['packages/*/test/**/*.test.ts'],
        timeoutMs: testLimits.integration,
        isolate: false,
        left: 'fails',
        setup: [awaitPrograms, 'packages/cli/test/setup.ts'],
      }),
      project('e2e', {
        include: ['test/*.test.ts', 'test/{attacks,dashboard}/**/*.test.ts'],
        timeoutMs: testLimits.e2e,
        setup: [awaitPrograms, 'test/support/tell-failures.ts'],
      }),
    ],
  },
})
