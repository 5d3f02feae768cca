import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

let home = ''
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-home-')))
  return () => rmSync(home, { recursive: true, force: true })
})

const twice = 'is asked about twice'

test.each([
  ['claude-code', 'copilot'],
  ['copilot', 'claude-code'],
])('says after %s that with %s in the same project calls are asked about twice', async (...ids) => {
  const kit = createCliKit()
  const folder = join(home, 'my app')
  mkdirSync(folder)
  const connect = async (id: string, ...flags: string[]) => {
    const env = { HOME: home, XDG_DATA_HOME: join(home, 'data') }
    const { code, out } = await kit.gatehouse(['connect', id, '--yes', ...flags], { env })
    expect(code).toBe(0)
    return out
  }
  const flags = ['--scope', 'project', '--folder', folder]
  const [first, second] = ids
  expect(await connect(first, ...flags)).not.toContain(twice)
  const out = await connect(second, ...flags)
  expect(out).toContain(
    `Claude Code in ${folder} as well as its own: each of its calls there ${twice}`,
  )
  expect(out).toContain(`gatehouse disconnect claude-code --scope project --folder '${folder}'\n`)
  expect(out).toContain('gatehouse connect claude-code\n')
  expect(await connect('codex', ...flags)).not.toContain(twice)
})

test('connects Claude Code where the file of Copilot CLI cannot be read', async () => {
  const file = join(home, '.copilot', 'hooks', 'gatehouse.json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '{')
  const env = { HOME: home, XDG_DATA_HOME: join(home, 'data') }
  const done = await createCliKit().gatehouse(['connect', 'claude-code', '--yes'], { env })
  expect([done.code, done.out.includes(twice)]).toEqual([0, false])
})
