import { seeded } from '@gatehouse/testkit/installation/seeds'
import { describe, expect, test } from 'vitest'
import { useRestKit } from './kit.ts'

const visit = { address: '127.0.0.1' }
const dashboard = useRestKit({}, { forBrowsers: true, allowedHosts: ['gate.example', '10.1.2.3'] })
const userApi = useRestKit({}, { allowedHosts: ['gate.example'] })

const begin = (kit: ReturnType<typeof dashboard>, host: string, redirect_url: string) =>
  kit.call('POST', `/api/upstreams/${seeded.waitingUpstream}/login`, {
    ...{ role: 'operator', headers: { host }, visit },
    body: { redirect_url },
  })

describe('the answer of a login is brought to the dashboard', () => {
  test.each([
    ['gate.example:7800', 'https://gate.example:7800'],
    ['Gate.Example', 'https://gate.example'],
    ['gate.example:443', 'https://gate.example'],
    ['gatehouse.localhost:7800', 'https://gatehouse.localhost:7800'],
    ['127.0.0.1:7800', 'https://127.0.0.1:7800'],
    ['[::1]:7800', 'https://[::1]:7800'],
    ['10.1.2.3:7800', 'https://10.1.2.3:7800'],
  ])('where it was asked for under %s', async (host, origin) => {
    const { status, body } = await begin(dashboard(), host, `${origin}/upstreams/callback`)
    expect([status, body['state']]).toEqual([200, 'a-state'])
  })

  test.each([
    ['another port', 'https://gate.example:7801/upstreams/callback'],
    ['no port', 'https://gate.example/upstreams/callback'],
    ['another of its own names', 'https://localhost:7800/upstreams/callback'],
    ['another machine', 'https://evil.example:7800/upstreams/callback'],
    ['a name that only begins so', 'https://gate.example:7800.evil.example/upstreams/callback'],
    ['somebody before its name', 'https://gate.example:7800@evil.example/upstreams/callback'],
    ['no encryption', 'http://gate.example:7800/upstreams/callback'],
    ['another page', 'https://gate.example:7800/upstreams/tickets'],
    ['a page below', 'https://gate.example:7800/upstreams/callback/x'],
    ['a way around', 'https://gate.example:7800/x/../upstreams/callback'],
    ['a query', 'https://gate.example:7800/upstreams/callback?next=x'],
    ['a fragment', 'https://gate.example:7800/upstreams/callback#x'],
    ['another scheme', 'javascript://gate.example:7800/upstreams/callback'],
    ['another spelling', 'https://gate.example:7800/Upstreams/callback'],
    ['a port of another machine', 'http://10.1.2.3:4711/callback'],
  ])('and to nothing with %s', async (_what, redirect_url) => {
    const { status, body } = await begin(dashboard(), 'gate.example:7800', redirect_url)
    expect(status).toBe(400)
    expect(body['errors']).toEqual([expect.objectContaining({ pointer: '/redirect_url' })])
  })

  test('and to no address that whoever asks has made up', async () => {
    const { status } = await begin(
      dashboard(),
      '6.6.6.6:7800',
      'https://6.6.6.6:7800/upstreams/callback',
    )
    expect(status).toBe(400)
  })

  test('and is not taken there by a listener that has no pages', async () => {
    const asked = (url: string) => begin(userApi(), 'gate.example:7800', url)
    expect((await asked('https://gate.example:7800/upstreams/callback')).status).toBe(400)
    // The twin: a port of the machine, for whoever logs in by the command.
    expect((await asked('http://127.0.0.1:4711/callback')).status).toBe(200)
    expect((await begin(dashboard(), 'localhost', 'http://127.0.0.1:4711/callback')).status).toBe(
      200,
    )
  })
})
