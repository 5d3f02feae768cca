// Compares the policy engine with a naive evaluator on 1,000,000 random pairs of policy and question.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const started = Date.now()
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    'unit',
    'packages/server/src/domain/policy/differential.test.ts',
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, GATEHOUSE_FULL: '1' } },
)
console.log(`1,000,000 pairs in ${((Date.now() - started) / 1000).toFixed(1)} s`)
process.exitCode = status ?? 1
