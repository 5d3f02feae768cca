import { chmod, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { findServer } from './connect.ts'
import { dataDirOf } from './global-options.ts'

const token = `gatehouse_user_${'t'.repeat(43)}`
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
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
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-test-'))
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
  const elsewhere = await mkdtemp(join(tmpdir(), 'gatehouse-test-'))
  await writeFile(join(elsewhere, 'run.json'), JSON.stringify(runOf(url)), { mode: 0o600 })
  await symlink(join(dataDir, 'cli-token'), join(elsewhere, 'cli-token'))
  await expect(findServer(elsewhere)).rejects.toMatchObject({ type: 'UnsafeFile' })
})

test('looks for the data where the flag, then the environment, then the custom says', () => {
  const env = { GATEHOUSE_DATA_DIR: '/env', XDG_DATA_HOME: '/xdg', HOME: '/home/ana' }
  expect(dataDirOf('/flag', env)).toBe('/flag')
  expect(dataDirOf(undefined, env)).toBe('/env')
  expect(dataDirOf(undefined, { ...env, GATEHOUSE_DATA_DIR: '' })).toBe('/xdg/gatehouse')
  expect(dataDirOf(undefined, { HOME: '/home/ana' })).toBe('/home/ana/.local/share/gatehouse')
})
