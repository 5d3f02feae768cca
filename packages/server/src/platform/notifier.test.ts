import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Notice } from '../ports/notifier.ts'
import { createNotifier, type TargetSettings } from './notifier.ts'

type Got = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }

const receiver = async (answer: { status?: number; headers?: object; body?: string } = {}) => {
  const got: Got[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body })
      response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body ?? 'ok')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const notice: Notice = {
  id: 'job-1',
  type: 'approval.pending',
  at: '2026-03-01T12:00:00.000Z',
  title: 'mailbot asks for <email> & "more" ä',
  text: 'see <https://evil.example|here> <!channel>',
  urgent: true,
  link: 'https://gate.example/#approvals/appr-1',
  data: { approval_id: 'appr-1' },
}

const secretFile = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-notify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'secret')
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

const notifierFor = (
  change: Partial<TargetSettings> & { url: string },
  wallMs = 1_700_000_000_000,
) =>
  createNotifier(
    [{ name: 'there', kind: 'webhook', secretFile: null, events: ['alert.raised'], ...change }],
    () => wallMs,
  )

const send = (notifier: ReturnType<typeof notifierFor>) =>
  notifier.send('there', notice, new AbortController().signal)

test('a webhook gets the event as JSON, with a signature that verifies and covers the moment', async () => {
  const { got, url } = await receiver()
  const secret = 'a secret of some length'
  const file = secretFile(`${secret}\n`)
  const notifier = notifierFor({ url: `${url}/hook?x=1`, secretFile: file })
  expect(await send(notifier)).toEqual({ kind: 'delivered', status: 200 })
  const [first] = got
  expect(first?.path).toBe('/hook?x=1')
  expect(JSON.parse(first?.body ?? '')).toEqual(notice)
  const signed = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(first?.headers['gatehouse-signature']))
  expect(signed?.[1]).toBe('1700000000')
  const mac = createHmac('sha256', secret).update(`${signed?.[1]}.${first?.body}`)
  expect(signed?.[2]).toBe(mac.digest('hex'))
})

test('a webhook without a secret is not signed', async () => {
  const { got, url } = await receiver()
  await send(notifierFor({ url }))
  expect(got[0]?.headers['gatehouse-signature']).toBeUndefined()
})

test('ntfy gets topic, title, priority and a link, and its token as it wants it', async () => {
  const { got, url } = await receiver()
  const file = secretFile('tk_0123456789abcdef')
  await send(notifierFor({ url: `${url}/sub/my-topic`, kind: 'ntfy', secretFile: file }))
  expect(got[0]?.path).toBe('/sub')
  expect(got[0]?.headers.authorization).toBe('Bearer tk_0123456789abcdef')
  expect(JSON.parse(got[0]?.body ?? '')).toEqual({
    topic: 'my-topic',
    title: notice.title,
    message: notice.text,
    priority: 4,
    click: notice.link,
  })
})

test('Slack gets text in which agents can neither link nor mention', async () => {
  const { got, url } = await receiver()
  await send(notifierFor({ url, kind: 'slack' }))
  const { text } = JSON.parse(got[0]?.body ?? '') as { text: string }
  expect(text.match(/<[^>]*>/g)).toEqual([`<${notice.link}|Open in Gatehouse>`])
  expect(text).toContain('mailbot asks for &lt;email&gt; &amp;')
})

test('a redirect is not followed, and nothing is sent to where it leads', async () => {
  const other = await receiver()
  const { url } = await receiver({ status: 307, headers: { location: other.url } })
  const sent = await send(notifierFor({ url }))
  expect(sent).toMatchObject({ kind: 'failed', status: 307 })
  expect(other.got).toEqual([])
})

test('an answer of any length is a delivery, and a refusal says when to come again', async () => {
  const long = await receiver({ body: 'x'.repeat(5_000_000) })
  expect(await send(notifierFor({ url: long.url }))).toEqual({ kind: 'delivered', status: 200 })
  const busy = await receiver({ status: 429, headers: { 'retry-after': '7' } })
  expect(await send(notifierFor({ url: busy.url }))).toMatchObject({
    status: 429,
    retryAfterMs: 7000,
  })
})

test('what goes wrong below is said without the address, whose path may be the secret', async () => {
  const sent = await send(notifierFor({ url: 'http://127.0.0.1:1/T0/B0/secretpath' }))
  expect(sent).toMatchObject({ kind: 'failed', status: null })
  expect(JSON.stringify(sent)).toContain('cannot be reached')
  expect(JSON.stringify(sent)).not.toContain('secretpath')
  expect(JSON.stringify(notifierFor({ url: 'http://h/secretpath' }).targets)).not.toContain(
    'secretp',
  )
})

test('a secret that is missing, short or readable by others is refused at the start', () => {
  const url = 'http://127.0.0.1:1'
  expect(() => notifierFor({ url, secretFile: '/nowhere/secret' })).toThrow('secret_file')
  expect(() => notifierFor({ url, secretFile: secretFile('short') })).toThrow('at least 16')
  const open = secretFile('a secret of some length')
  chmodSync(open, 0o644)
  expect(() => notifierFor({ url, secretFile: open })).toThrow('others can read it')
  chmodSync(open, 0o600)
  expect(notifierFor({ url, secretFile: open }).targets[0]?.hasSecret).toBe(true)
})
