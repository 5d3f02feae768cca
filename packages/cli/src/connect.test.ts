import { chmod, readdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { afterEach, expect, test, vi } from 'vitest'
import { connect, findData, findServer } from './connect.ts'

const token = `gatehouse_user_${'t'.repeat(43)}`
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  vi.unstubAllEnvs()
})

const get = { method: 'GET', headers: {} }

type Seen = { url: string | undefined; authorization: string | undefined }

async function listen(location = ''): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(({ url, headers: { authorization } }, response) => {
    seen.push({ url, authorization })
    if (url === '/api/moved') response.writeHead(307, { location })
    response.end('{}')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

async function createDataDir(run: object | null): Promise<string> {
  const dataDir = makeTemporaryFolder()
  await writeFile(join(dataDir, 'cli-token'), `${token}\n`, { mode: 0o600 })
  if (run) await writeFile(join(dataDir, 'run.json'), JSON.stringify(run), { mode: 0o600 })
  return dataDir
}

const runOf = (user_api_url: string, pid = process.pid) => ({ pid, user_api_url, version: '1.2.3' })

test('finds the running server and shows it the token of the data directory', async () => {
  const { url, seen } = await listen()
  const found = await findServer(await createDataDir(runOf(url)))
  expect(found?.run?.user_api_url).toBe(url)
  await found?.fetch('http://gatehouse.localhost/api/agents?x=1', get)
  expect(seen).toEqual([
    { url: '/healthz', authorization: undefined },
    { url: '/api/agents?x=1', authorization: `Bearer ${token}` },
  ])
})

test('finds none where none was started, and none where one was killed', async () => {
  expect(await findServer(await createDataDir(null))).toBeNull()
  expect(await findServer('/does/not/exist')).toBeNull()
  // Above the largest process number that Linux gives out.
  expect(await findServer(await createDataDir(runOf('http://127.0.0.1:1', 2 ** 22 + 1)))).toBeNull()
})

test('says that a server does not answer rather than working behind its back', async () => {
  const dataDir = await createDataDir(runOf('http://127.0.0.1:1'))
  await expect(findServer(dataDir)).rejects.toMatchObject({ type: 'NotReachable', exitCode: 3 })
})

test.each([
  'http://evil.example:7703',
  'https://127.0.0.1:7703',
  'http://127.0.0.1@evil.example',
  'x',
])('sends the token nowhere but to this machine: %s', async (url) => {
  const dataDir = await createDataDir(runOf(url))
  await expect(findServer(dataDir)).rejects.toMatchObject({ type: 'UnsafeFile', exitCode: 4 })
})

test('goes nowhere else because a server points there', async () => {
  const other = await listen()
  const { url } = await listen(`${other.url}/api/status`)
  const found = await findServer(await createDataDir(runOf(url)))
  const answer = await found?.fetch('http://gatehouse.localhost/api/moved', get)
  expect(answer).toMatchObject({ ok: false, status: 307 })
  expect(other.seen).toEqual([])
})

test('uses no token that others can read, and no address that others can write', async () => {
  const { url } = await listen()
  const dataDir = await createDataDir(runOf(url))
  await chmod(join(dataDir, 'cli-token'), 0o644)
  await expect(findServer(dataDir)).rejects.toMatchObject({ type: 'UnsafeFile', exitCode: 4 })
  await chmod(join(dataDir, 'cli-token'), 0o600)
  await chmod(join(dataDir, 'run.json'), 0o666)
  await expect(findServer(dataDir)).rejects.toMatchObject({ type: 'UnsafeFile' })
})

test('follows no link in place of the token', async () => {
  const { url } = await listen()
  const dataDir = await createDataDir(runOf(url))
  const elsewhere = makeTemporaryFolder()
  await writeFile(join(elsewhere, 'run.json'), JSON.stringify(runOf(url)), { mode: 0o600 })
  await symlink(join(dataDir, 'cli-token'), join(elsewhere, 'cli-token'))
  await expect(findServer(elsewhere)).rejects.toMatchObject({ type: 'UnsafeFile' })
})

/** A data directory as a service leaves it. */
async function createStopped(): Promise<string> {
  const dataDir = await createDataDir(null)
  await writeFile(join(dataDir, 'store.json'), '{}')
  return dataDir
}

const usual = (first: string, ...others: string[]) =>
  ({ named: false, dirs: [first, ...others] }) as const

test('finds the server that runs in a usual place, before data that no server runs on', async () => {
  const { url } = await listen()
  const running = await createDataDir(runOf(url))
  const stopped = await createStopped()
  for (const first of ['/does/not/exist', stopped])
    expect(await findData(usual(first, running))).toMatchObject({
      dataDir: running,
      server: { run: { user_api_url: url }, dataDir: running },
    })
  expect(await findData(usual('/does/not/exist', stopped))).toEqual({
    dataDir: stopped,
    server: null,
  })
})

test('looks only where somebody named a place, and says where it looked', async () => {
  const missing = { type: 'NoGatehouse', exitCode: 3 }
  await expect(findData({ named: true, dirs: ['/does/not/exist'] })).rejects.toMatchObject({
    ...missing,
    message: 'No Gatehouse here; looked in /does/not/exist.',
  })
  await expect(findData(usual('/no/a', '/no/b', '/no/c'))).rejects.toMatchObject({
    ...missing,
    message: 'No Gatehouse here; looked in /no/a, /no/b and /no/c.',
  })
})

test("passes by another user's service, and says so where nothing else is found", async () => {
  const { url } = await listen()
  const closed = await createDataDir(runOf(url))
  await chmod(join(closed, 'run.json'), 0o666)
  const stopped = await createStopped()
  expect(await findData(usual(stopped, closed))).toEqual({ dataDir: stopped, server: null })
  await expect(findData(usual('/no/a', closed))).rejects.toMatchObject({
    message: `No Gatehouse here; looked in /no/a and ${closed} (not open to this user).`,
  })
  await expect(findData(usual(closed, stopped))).rejects.toMatchObject({ type: 'UnsafeFile' })
})

const input = { configFile: undefined, serverOnly: false } as const

test('works on data of its own where a command needs none, and leaves nothing behind', async () => {
  const folder = makeTemporaryFolder()
  vi.stubEnv('TMPDIR', folder)
  // A database of a service is no place for data of a moment.
  vi.stubEnv('GATEHOUSE_DATABASE_URL', 'postgres://127.0.0.1:1/none')
  const places = usual(join(folder, 'missing'))
  {
    await using connection = await connect({ ...input, places, withoutData: 'temporary' })
    const answer = await connection.fetch('http://gatehouse.localhost/api/policies/validate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        text: 'version: 1\nrules: [{match: filesystem.read, tier: blocked}]\n',
      }),
    })
    expect(JSON.parse(await answer.text())).toMatchObject({ valid: true })
    expect((await readdir(folder)).length).toBe(1)
  }
  expect(await readdir(folder)).toEqual([])
  const named = { named: true, dirs: places.dirs } as const
  for (const refused of [
    { ...input, places },
    { ...input, places: named, withoutData: 'temporary' as const },
    { ...input, places, withoutData: 'temporary' as const, configFile: '/etc/gatehouse.yaml' },
    { ...input, places, withoutData: 'begins' as const, serverOnly: true },
  ])
    await expect(connect(refused)).rejects.toMatchObject({ type: 'NoGatehouse' })
  expect(await readdir(folder)).toEqual([])
})
