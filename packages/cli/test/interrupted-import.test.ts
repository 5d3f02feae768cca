import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { makeQuickFolder } from '@gatehouse/testkit/quick-store'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const secret = 'not-a-real-token-1b7e'
let home = ''
beforeEach(() => {
  // In memory: each of hundreds of steps waits for the disk.
  const folder = makeQuickFolder()
  home = folder.path
  return () => folder[Symbol.dispose]()
})

const app = () => join(home, 'app')
const configs = () => [
  join(home, '.claude.json'),
  join(app(), '.mcp.json'),
  join(home, '.codex', 'config.toml'),
]
const env = { NOTES_TOKEN: secret }
const before = [
  `{\n\t"projects": {"/srv/app": {"history": [], "mcpServers": ${JSON.stringify({ desk: { command: 'desk' } })}}},
\t"mcpServers": ${JSON.stringify({ notebook: { command: 'notes', args: [], env } })}\n}`,
  JSON.stringify({ mcpServers: { board: { type: 'http', url: 'https://board.example/mcp' } } }),
  `# mine\n[mcp_servers.notebook]\ncommand = "notes"\n[mcp_servers.notebook.env]\nNOTES_TOKEN = "${secret}"\n`,
]
beforeEach(() => {
  mkdirSync(app())
  // As where a service has run.
  mkdirSync(data('audit'), { recursive: true })
  mkdirSync(join(home, '.codex'))
  for (const [at, file] of configs().entries()) writeFileSync(file, before[at] ?? '')
})

const changing = ['chmod', 'link', 'mkdir', 'open', 'rename', 'rm', 'rmdir', 'unlink'] as const
const whole = Object.fromEntries(changing.map((name) => [name, fs[name]]))
const restoreFs = () => {
  Object.assign(fs, whole)
  syncBuiltinESMExports()
}
afterEach(restoreFs)

type Kit = ReturnType<typeof createCliKit>

/**
 * A command that is killed before one of its steps: changes of files below the home folder, which are all that the
 * command line makes, and requests. None of those that follow has an effect, neither what it does to clean up.
 */
async function killedBefore(step: number, kit: Kit, line: readonly string[]) {
  let taken = 0
  const take = () => {
    taken += 1
    if (taken >= step) throw new Error('killed')
  }
  for (const name of changing) {
    const original = whole[name] as (...args: unknown[]) => Promise<unknown>
    const counted = async (path: string, ...args: unknown[]) => {
      const isOurs = `${path}`.startsWith(home) && !(name === 'open' && typeof args[0] !== 'string')
      if (isOurs) take()
      const made = await original(path, ...args)
      if (!isOurs || name !== 'open') return made
      const handle = made as fs.FileHandle
      const write = handle.writeFile.bind(handle)
      handle.writeFile = async (...content: Parameters<typeof write>) => {
        take()
        await write(...content)
      }
      return handle
    }
    Object.assign(fs, { [name]: counted })
  }
  syncBuiltinESMExports()
  const ran = await gatehouse(kit, line, take)
  restoreFs()
  return { ...ran, wasKilled: taken >= step }
}

const gatehouse = (kit: Kit, line: readonly string[], onRequest = () => {}) =>
  kit.gatehouse(line, { env: { HOME: home, XDG_DATA_HOME: join(home, 'data') }, onRequest })

const importing = () => ['import', 'claude-code', 'codex', '--folder', app(), '--yes']
const undoing = ['import', '--undo', '--yes']
const data = (folder: string) => join(home, 'data', 'gatehouse', folder)
const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** What there is besides the data and what was there before. */
async function traces(kit: Kit) {
  const { upstreams } = JSON.parse((await gatehouse(kit, ['upstream', 'list', '--json'])).out) as {
    upstreams: { name: string }[]
  }
  const { agents } = JSON.parse((await gatehouse(kit, ['agent', 'list', '--json'])).out) as {
    agents: { name: string; status: string }[]
  }
  return {
    files: configs().map((file) => readFileSync(file, 'utf8')),
    beside: [home, app(), join(home, '.codex')].map((folder) => namesIn(folder).toSorted()),
    // A journal that was never put in place goes with the next import.
    kept: [...namesIn(data('imports')), ...namesIn(data('connections'))].filter(
      (name) => !/^\.+journal\.[0-9a-f.]+$/.test(name),
    ),
    upstreams: upstreams.map(({ name }) => name),
    agents: agents
      .filter(({ status }) => status !== 'revoked')
      .map(({ name }) => name)
      .filter((name) => /^(claude|codex)/.test(name)),
  }
}

const isInterrupted = () => existsSync(join(data('imports'), 'journal.json'))

test('an import that is killed before any of its steps is taken back byte for byte', async () => {
  const kit = createCliKit()
  const clean = await traces(kit)
  for (let step = 1; ; step += 1) {
    const { wasKilled, code } = await killedBefore(step, kit, importing())
    // Before its first step nothing is to be undone.
    const expected = isInterrupted() || !wasKilled ? 0 : 5
    // What takes it back may be killed, too: at another step each time.
    if (isInterrupted()) await killedBefore((step * 7) % 30, kit, undoing)
    const undone = await gatehouse(kit, undoing)
    const isDone = expected === 0 && undone.code === 5
    expect([step, isDone || undone.code === expected]).toEqual([step, true])
    expect([step, await traces(kit)]).toEqual([step, clean])
    if (wasKilled) continue
    expect([step > 40, code, namesIn(data('imports'))]).toEqual([true, 0, []])
    break
  }
})

test('an undo that is killed before any of its steps is completed by the next import', async () => {
  const kit = createCliKit()
  const clean = await traces(kit)
  for (let step = 1; ; step += 1) {
    expect((await gatehouse(kit, importing())).code).toBe(0)
    const { wasKilled, code } = await killedBefore(step, kit, undoing)
    if (isInterrupted()) {
      const { code: left, out } = await gatehouse(kit, importing())
      expect([left, out]).toEqual([1, expect.stringContaining('Import again: gatehouse import')])
      expect(out).toContain('The undo of an import was interrupted.')
    } else if (wasKilled && existsSync(join(data('imports'), '000001.json')))
      expect((await gatehouse(kit, undoing)).code).toBe(0)
    expect([step, await traces(kit)]).toEqual([step, clean])
    if (wasKilled) continue
    expect([step > 20, code]).toEqual([true, 0])
    break
  }
})

test('doctor and a dry run tell of an import that was killed, and another waits for one that goes on', async () => {
  const kit = createCliKit()
  const inDoctor = async () => {
    const { out } = await gatehouse(kit, ['doctor', '--json'])
    const { checks } = JSON.parse(out) as { checks: { name: string }[] }
    return checks.find(({ name }) => name === 'Import')
  }
  expect(await inDoctor()).toBe(undefined)
  await killedBefore(25, kit, importing())
  expect(await inDoctor()).toMatchObject({ status: 'warning', fix: 'gatehouse import' })
  const before = await traces(kit)
  const dry = await gatehouse(kit, ['import', '--dry-run'])
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('An import was interrupted.')])
  expect(await traces(kit)).toEqual(before)

  const file = join(data('imports'), 'journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as object
  const write = (change: object) => writeFileSync(file, JSON.stringify({ ...journal, ...change }))
  write({ pid: process.ppid })
  expect(await inDoctor()).toMatchObject({ status: 'ok' })
  const refused = await gatehouse(kit, undoing)
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`${process.ppid}`)])
  expect(await traces(kit)).toEqual(before)
  // The number of a process that ended long ago is one of another process now.
  write({ pid: process.ppid, started_at: '2026-01-01T00:00:00.000Z' })
  expect((await gatehouse(kit, undoing)).code).toBe(0)
  expect(namesIn(data('imports'))).toEqual([])
})

test('takes back no server that somebody else has added under the same name since', async () => {
  const kit = createCliKit()
  const add = async (command: string) => {
    const line = ['upstream', 'add', 'notebook', '--yes', '--', command]
    expect((await gatehouse(kit, line)).code).toBe(0)
  }
  for (let step = 1; !isInterrupted(); step += 1) await killedBefore(step, kit, importing())
  await add('another')
  const { code, out } = await gatehouse(kit, undoing)
  expect([code, out]).toEqual([0, 'An import was interrupted.\n'])
  expect((await traces(kit)).upstreams).toContain('notebook')
})
