import { defineConfig } from 'vitest/config'

// Tests run from the sources: this condition stands first in each package's exports.
const conditions = ['gatehouse-source', 'node', 'import', 'default']

const project = (name: string, include: string[], timeoutMs: number) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks' as const,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
  },
})

export default defineConfig({
  test: {
    projects: [
      project('unit', ['packages/*/src/**/*.test.ts'], 30_000),
      project('integration', ['packages/*/test/**/*.test.ts'], 60_000),
      project('e2e', ['test/**/*.test.ts'], 180_000),
    ],
  },
})
