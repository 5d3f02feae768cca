import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const secret = 'not-a-real-token-1b7e'
let home = ''
let docs = ''
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-home-')))
  docs = join(home, 'docs')
  mkdirSync(docs)
  return () => rmSync(home, { recursive: true, force: true })
})

const put = (servers: object): string => {
  const file = join(home, '.claude.json')
  const gatehouse = { command: 'node', args: ['x', 'mcp', '--token-file', file] }
  writeFileSync(file, JSON.stringify({ mcpServers: { ...servers, gatehouse } }, null, 2))
  return file
}

function service() {
  const kit = createCliKit()
  const env = { HOME: home, XDG_DATA_HOME: join(home, 'data') }
  const run = (line: string[], terminal: object = {}) =>
    kit.gatehouse(['import', 'claude-code', ...line], { env, ...terminal })
  return { kit, run }
}

const servers = () => ({
  filesystem: {
    command: 'npx',
    args: ['-y', 'files', docs],
    env: { FILES_TOKEN: secret, LEVEL: 'verbose!' },
  },
  bad: { command: 'broken' },
})

const namesIn = (file: string): string[] =>
  Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: object }).mcpServers)

test('shows and asks at a terminal, and does what was said', async () => {
  const file = put(servers())
  const { run, kit } = service()
  const { code, out, err } = await run([], { columns: 100, answer: 'y' })
  expect(code).toBe(1)
  expect(err).toContain('filesystem of claude-code: FILES_TOKEN goes into the vault')
  expect(err).toContain('filesystem of claude-code: LEVEL stays a plain variable')
  expect(err).toContain(`May filesystem read ${docs}? [y, w to write too, N]`)
  expect(err).toContain('May filesystem connect to registry.npmjs.org:443? [y/N]')
  expect(err).toContain('The name filesystem is taken: it becomes filesystem-claude-code.')
  expect(err).toContain('add_note')
  const granted = `Folders: ${docs} (read only)\nHosts: registry.npmjs.org:443\n`
  expect(err).toContain(`${granted}Environment: LEVEL, FILES_TOKEN\n`)
  expect(err).toContain('bad of claude-code was left as it was: The upstream server bad')
  expect(err).toContain(`Put filesystem-claude-code behind the gate, and out of ${file}?`)
  expect(out).toContain('filesystem-claude-code is behind the gate: 2 tools offered')
  expect(out).toContain('import --undo')
  expect(out).toContain('upstream tiers filesystem-claude-code --suggest')
  expect(`${out}${err}`).not.toContain(secret)
  const orders = kit.sentTo('addUpstream')
  expect(orders.slice(-2)).toMatchObject([{ dry_run: true }, { dry_run: false }])
  expect(orders.at(-1)).toMatchObject({
    grants: {
      folders: [{ path: docs, read_only: true }],
      hosts: ['registry.npmjs.org:443'],
      environment: { LEVEL: 'verbose!' },
    },
    credentials: { FILES_TOKEN: { value: secret } },
  })
  expect(namesIn(file)).toEqual(['bad', 'gatehouse'])
})

test('grants and changes nothing where the answer is no', async () => {
  const file = put(servers())
  const { run, kit } = service()
  const { code } = await run(['--server', 'filesystem'], { columns: 100, answer: 'n' })
  expect(code).toBe(1)
  expect(kit.sentTo('addUpstream')).toMatchObject([
    { name: 'filesystem', dry_run: true, grants: { folders: [], hosts: [] } },
    { name: 'filesystem-claude-code', dry_run: true, grants: { folders: [], hosts: [] } },
  ])
  expect(kit.operations).toEqual(['addUpstream', 'addUpstream'])
  expect(namesIn(file)).toEqual(['filesystem', 'bad', 'gatehouse'])
})

test('starts nothing where nobody can be asked, and needs --yes', async () => {
  put(servers())
  const { run, kit } = service()
  const { code, err } = await run([])
  expect([code, kit.operations]).toEqual([2, []])
  expect(err).toContain('--yes')
  expect(existsSync(join(home, 'data'))).toBe(false)
})

test('prints JSON without values, and grants the one server more', async () => {
  put(servers())
  const { run, kit } = service()
  const line = ['--server', 'filesystem', '--grant', `${docs}:rw`, '--host', 'api.example.org:443']
  const { code, out } = await run([...line, '--secret', 'LEVEL', '--yes', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    imported: [{ upstream: 'filesystem-claude-code', tools: 2, added: true }],
    left: [],
  })
  expect(out).not.toContain(secret)
  expect(kit.sentTo('addUpstream').at(-1)).toMatchObject({
    grants: {
      folders: [{ path: docs, read_only: false }],
      hosts: ['api.example.org:443', 'registry.npmjs.org:443'],
    },
    credentials: { FILES_TOKEN: {}, LEVEL: {} },
  })
})

test('leaves a file that changed in the meantime, and takes back what it had added', async () => {
  const file = put(servers())
  const { run, kit } = service()
  const onWrite = (text: string) => {
    if (text.includes('add_note')) put({ filesystem: { command: 'another' } })
  }
  const { code, out } = await run(['--server', 'filesystem'], {
    columns: 100,
    answer: 'y',
    onWrite,
  })
  expect(code).toBe(1)
  expect(out).toContain('has changed')
  expect(out).toContain('Nothing was imported.')
  expect(kit.operations).toContain('removeUpstream')
  expect(namesIn(file)).toEqual(['filesystem', 'gatehouse'])
})

test('refuses what it does not know', async () => {
  put(servers())
  const { run, kit } = service()
  for (const line of [['--server', 'nobody'], ['--grant', docs], ['cursr']])
    expect((await run(line)).code).toBe(2)
  expect(kit.operations).toEqual([])
})

test('takes the servers that Claude Code keeps for single folders, and brings them back', async () => {
  const file = join(home, '.claude.json')
  const [app, other] = [join(home, 'app'), join(home, 'other')]
  const desk = { desk: { command: 'desk', env: { DESK_TOKEN: secret } } }
  const text = JSON.stringify(
    {
      mcpServers: { files: { command: 'x' } },
      projects: { [app]: { mcpServers: desk, cost: 1 }, [other]: { mcpServers: desk } },
    },
    null,
    2,
  )
  writeFileSync(file, text)
  // As where a service has run.
  mkdirSync(join(home, 'data', 'gatehouse', 'audit'), { recursive: true })
  const { run } = service()
  const listed = await run(['--dry-run'])
  expect(listed.out).toContain(`desk of claude-code: for ${app} alone`)
  expect(listed.out).not.toContain(secret)

  const done = await run(['--server', 'desk', '--yes', '--json'])
  expect(JSON.parse(done.out)).toMatchObject({
    imported: [{ upstream: 'desk', from: [{ server: 'desk' }, { server: 'desk' }] }],
    files: [{ file, connected: true }],
  })
  const changed = JSON.parse(readFileSync(file, 'utf8')) as object
  expect(changed).toEqual({
    mcpServers: { files: { command: 'x' }, gatehouse: expect.anything() as unknown },
    projects: { [app]: { mcpServers: {}, cost: 1 }, [other]: { mcpServers: {} } },
  })
  expect((await run(['--undo', '--yes'])).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(text)

  // What Claude Code has changed since stays as it is.
  await run(['--server', 'desk', '--yes', '--json'])
  const since = JSON.parse(readFileSync(file, 'utf8')) as { projects: Record<string, object> }
  since.projects = { [app]: { mcpServers: {}, cost: 2 } }
  writeFileSync(file, JSON.stringify(since))
  const undone = await run(['--undo', '--yes'])
  expect(undone.out).toContain('only its servers were put back')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: { files: { command: 'x' } },
    projects: { [app]: { mcpServers: desk, cost: 2 }, [other]: { mcpServers: desk } },
  })
})
