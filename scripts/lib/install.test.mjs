import { expect, test } from 'vitest'
import { differs } from './install.mjs'
import { lockGaps } from './lock-gaps.mjs'

const zod = { version: '4.0.0', integrity: 'sha512-a' }
const lock = {
  '': { name: 'root' },
  'packages/server': { version: '0.1.0' },
  'node_modules/zod': zod,
  'node_modules/tool-darwin-arm64': { version: '1.0.0', optional: true },
}

test('takes an installation for current when it is what the lock file says', () => {
  expect(differs(lock, { 'node_modules/zod': zod })).toBe(false)
})

test('takes an installation for stale when a package is missing, older or another', () => {
  expect(differs(lock, {})).toBe(true)
  expect(differs(lock, { 'node_modules/zod': { ...zod, version: '3.9.9' } })).toBe(true)
  expect(differs(lock, { 'node_modules/zod': { ...zod, integrity: 'sha512-b' } })).toBe(true)
})

test('finds the packages for other systems that a lock file leaves out', () => {
  const tool = {
    dev: true,
    optionalDependencies: {
      'tool-darwin-arm64': '1.0.0',
      'tool-linux-x64': '1.0.0',
      loose: '^2.0.0',
    },
  }
  expect(lockGaps({ ...lock, 'node_modules/tool': tool })).toEqual([
    { name: 'tool-linux-x64', version: '1.0.0', dev: true },
  ])
})
