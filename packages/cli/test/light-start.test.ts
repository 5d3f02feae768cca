import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const bin = new URL('../bin/gatehouse.js', import.meta.url).pathname

/** A module that notes the address of each module that is loaded after it. */
const noting = (file: string): string => {
  const hooks = `import { appendFileSync } from 'node:fs'
    export const load = (url, context, next) => {
      appendFileSync(${JSON.stringify(file)}, url + '\\n')
      return next(url, context)
    }`
  const text = `import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))`
  return `data:text/javascript,${encodeURIComponent(text)}`
}

/** A data directory whose service has no agents. */
async function openService(): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"agents":[]}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-light-'))
  onTestFinished(() => {
    rmSync(dataDir, { recursive: true })
    server.close()
    server.closeAllConnections()
  })
  const run = { pid: process.pid, user_api_url: `http://127.0.0.1:${port}` }
  for (const [name, text] of [
    ['run.json', JSON.stringify(run)],
    ['cli-token', `gatehouse_user_${'a'.repeat(43)}`],
  ] as const)
    writeFileSync(join(dataDir, name), text, { mode: 0o600 })
  return dataDir
}

test('a command that asks the service loads neither the service nor what checks its answers', async () => {
  const dataDir = await openService()
  const list = join(dataDir, 'loaded.txt')
  const args = ['--import', noting(list), bin, '--data-dir', dataDir, 'agent', 'list']
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  expect(await once(child, 'close')).toEqual([0, null])
  const loaded = readFileSync(list, 'utf8')
    .split('\n')
    .filter((url) => url.includes('/cli/dist/bundle/'))
  expect(loaded).toContainEqual(expect.stringContaining('/agent-list-'))
  expect(loaded.filter((url) => url.includes('/bundle/server-'))).toEqual([])
  // Only a limit on what is loaded: zod alone, with which the service checks what it gets, is larger.
  const bytes = loaded.reduce((sum, url) => sum + statSync(new URL(url)).size, 0)
  expect(bytes).toBeLessThan(150_000)
})
