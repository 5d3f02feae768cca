import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '@gatehouse/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { Installation, invoke } from './support/server.ts'

const secret = 'a secret of some length'

type Got = { readonly body: string; readonly signature: string }

const receiver = async () => {
  const got: Got[] = []
  const state = { status: 503 }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      if (state.status === 200)
        got.push({ body, signature: String(request.headers['gatehouse-signature']) })
      response.writeHead(state.status).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { got, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

test('a kill loses no notification: a receiver that was down gets them all, signed', async () => {
  await using here = new Installation()
  const { got, state, url } = await receiver()
  mkdirSync(join(here.dataDir, 'secrets'))
  writeFileSync(join(here.dataDir, 'secrets', 'ops'), secret, { mode: 0o600 })
  const target = `{ name: ops, kind: webhook, url: "${url}", secret_file: secrets/ops }`
  writeFileSync(join(here.dataDir, 'gatehouse.yaml'), `notifications:\n  - ${target}\n`)
  const run = await here.start(['--no-first-agent'])
  const { token } = await here.createAgent('alpha')
  const ids: unknown[] = []
  for (const path of ['a.txt', 'b.txt', 'c.txt']) {
    await invoke(run, token, 'filesystem.write', { path, content: 'x' })
    const { error } = await invoke(run, token, 'filesystem.delete', { path })
    ids.push(error?.data?.['approval_id'])
  }
  await here.kill()
  expect(got).toEqual([])

  state.status = 200
  const { dashboard_url } = await here.start()
  const read = () =>
    got.map(({ body }) => JSON.parse(body) as { data: object; link: string; id: string })
  // At least once: one whose answer is late comes again, with the same id.
  const tell = () => [...new Map(read().map((one) => [one.id, one])).values()]
  await until(() => tell().length >= 3)
  const told = tell()
  const asked = told.map(({ data }) => (data as { approval_id?: string }).approval_id)
  expect(new Set(asked)).toEqual(new Set(ids))
  expect(asked).toHaveLength(ids.length)
  const { port } = new URL(dashboard_url)
  for (const { link } of told)
    expect(link).toMatch(new RegExp(`^https://gatehouse\\.localhost:${port}/#approvals/appr-`))
  for (const { body, signature } of got) {
    const [, seconds = '', mac] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? []
    expect(mac).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'))
  }
  const tried = await here.cli(['notifications', 'test', 'ops'])
  expect(tried).toMatchObject({ code: 0, stdout: 'ops has taken the message.\n' })
  const listed = await here.cli(['notifications', 'list'])
  expect(listed.stdout).toContain('ops')
  expect(listed.stdout + here.output).not.toContain('/hook')
  expect(listed.stdout + here.output).not.toContain(secret)

  // Without its secret a server does not start; what only looks at the data still works.
  await here.stop()
  rmSync(join(here.dataDir, 'secrets'), { recursive: true })
  await expect(here.start()).rejects.toThrow('secret_file of notifications cannot be read')
  expect(await here.cli(['audit', 'verify'])).toMatchObject({ code: 0 })
})

test('a wrong address keeps the server from starting, and names the field', async () => {
  await using here = new Installation()
  const target = '{ name: ops, kind: webhook, url: "ftp://x/y" }'
  writeFileSync(join(here.dataDir, 'gatehouse.yaml'), `notifications:\n  - ${target}\n`)
  await expect(here.start()).rejects.toThrow('url must begin with https:// or http://')
})
