import { expect, test } from 'vitest'
import { openRestKit, useRestKit } from './kit.ts'

const role = 'operator' as const
const visit = { address: '127.0.0.1' }
const shared = useRestKit({}, { allowedHosts: ['box.example'] })

test.each(['127.0.0.1:7703', 'localhost', '[::1]:7703', 'gatehouse.localhost:7703', 'box.example'])(
  'answers for the host %s',
  async (host) => {
    const answer = await shared().call('GET', '/api/status', { role, headers: { host }, visit })
    expect(answer.status).toBe(200)
  },
)

test.each(['evil.example:7703', 'localhost.evil.example', '127.0.0.1.evil.example', 'a@localhost'])(
  'does not answer for the host %s',
  async (host) => {
    await using kit = await openRestKit()
    const answer = await kit.call('GET', '/api/status', { role, headers: { host }, visit })
    expect(answer.status).toBe(421)
    expect(kit.calls).toEqual([])
  },
)

test('wants a Host from everybody who comes over the network', async () => {
  expect((await shared().call('GET', '/healthz', { visit })).status).toBe(400)
})

test.each(['https://evil.example', 'null', 'http://localhost:3000'])(
  'refuses pages of %s, without a word of CORS',
  async (origin) => {
    const answer = await shared().call('POST', '/api/agents/mailbot/pause', {
      role,
      headers: { origin },
    })
    expect(answer.status).toBe(403)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-'))).toEqual([])
    expect(await shared().statusOf('mailbot')).toBe('active')
  },
)
