import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { candidates } from '../src/commands/complete.ts'
import { createCliKit } from './kit.ts'

const nowhere = { named: true, dirs: ['/does/not/exist'] } as const

test('offers nouns, then verbs, then options', async () => {
  expect(await candidates(['app'], nowhere)).toContain('approvals')
  expect(await candidates([''], nowhere)).not.toContain('__complete')
  expect(await candidates(['agent', ''], nowhere)).toEqual([
    'create',
    'list',
    'show',
    'edit',
    'pause',
    'resume',
    'rotate',
    'revoke',
    'restore',
  ])
  const options = await candidates(['agent', 'create', 'x', '--'], nowhere)
  expect(options).toContain('--purpose')
  expect(options).toContain('--json')
})

test('completes nothing, quietly, where no server runs', async () => {
  const ran = await createCliKit().gatehouse(['__complete', '--', 'agent\nshow\n'], {
    env: { GATEHOUSE_DATA_DIR: nowhere.dirs[0] },
  })
  expect(ran).toEqual({ code: 0, out: '', err: '' })
})

test.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
  const { code, out } = await createCliKit().gatehouse(['completion', shell])
  expect(code).toBe(0)
  expect(out).toContain('gatehouse __complete -- ')
  // Each shell that is here reads its own without running it.
  if (shell === 'powershell') return
  const { error, status, stderr } = spawnSync(shell, ['-n'], { input: out, encoding: 'utf8' })
  expect(error ? 'no such shell' : `${status} ${stderr}`).toMatch(/^(?:no such shell|0 )$/)
})
