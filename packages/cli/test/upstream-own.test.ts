import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { upstreamLogout } from '../src/commands/upstream-logout.ts'
import { createCliKit } from './kit.ts'

const add = ['upstream', 'add', 'other', '--url', 'https://other.example/mcp', '--yes']

const keep = (agent: string) => [
  ...['vault', 'add', `other_${agent}`, '--agent', agent, '--host', 'other.example'],
  ...['--capability', 'service:upstream.other'],
]

test('secrets of agents are given with a server, by their names, and shown again', async () => {
  const kit = createCliKit()
  const { code } = await kit.gatehouse(keep('mailbot'), { input: 'Bearer of-the-mailbot' })
  expect(code).toBe(0)
  const own = { mailbot: { authorization: { secret: 'other_mailbot' } } }
  const added = await kit.gatehouse([...add, '--agent-secret', 'mailbot=other_mailbot', '--json'])
  expect(added).toMatchObject({ code: 0 })
  expect(kit.sentTo('addUpstream')).toMatchObject([
    { agent_credentials: own, dry_run: true },
    { agent_credentials: own, dry_run: false },
  ])
  const { out } = await kit.gatehouse(['upstream', 'show', 'other'])
  expect(out).toContain('Credentials of mailbot: authorization from other_mailbot')
  expect(out).toContain('Agents without their own: refused')
  expect(added.out + out).not.toContain('of-the-mailbot')
})

test('a header or variable other than the usual one is named, and everybody else may be refused', async () => {
  const kit = createCliKit()
  await kit.gatehouse(keep('mailbot'), { input: 'a-key-of-the-mailbot' })
  const { code, err } = await kit.gatehouse(
    [
      ...[...add, '--own-only', '--credential', 'authorization'],
      ...['--agent-secret', 'mailbot:x-key=other_mailbot'],
    ],
    { input: 'Bearer of-everybody' },
  )
  expect([code, err]).toEqual([0, expect.anything()])
  expect(kit.sentTo('addUpstream').at(-1)).toMatchObject({
    agent_credentials: { mailbot: { 'x-key': { secret: 'other_mailbot' } } },
    own_only: true,
  })
})

test.each([
  ['mailbot', 'AGENT=SECRET'],
  ['=other_mailbot', 'AGENT=SECRET'],
  ['mailbot:=other_mailbot', 'AGENT:NAME=SECRET'],
  ['mailbot:a:b=other_mailbot', 'AGENT:NAME=SECRET'],
  ['mailbot=one,mailbot=two', 'twice'],
])('%s is refused before anything is sent', async (text, said) => {
  const kit = createCliKit()
  const { code, err } = await kit.gatehouse([...add, '--agent-secret', text])
  expect(code).toBe(2)
  expect(err).toContain(said)
  expect(kit.operations).toEqual([])
})

test('what is wrong with a secret of an agent is said with its field', async () => {
  const kit = createCliKit()
  const { code, err } = await kit.gatehouse([...add, '--agent-secret', 'mailbot=nothing'])
  expect(code).toBe(2)
  expect(err).toContain('agent_credentials.mailbot.authorization')
})

test('a person logs in, and out, for one agent', async () => {
  const kit = createCliKit()
  const input = 'http://127.0.0.1:4180/callback?code=a-code&state=a-state\n'
  const of = (command: string) => ['upstream', command, seeded.waitingUpstream, '--as', 'mailbot']
  const { code, out } = await kit.gatehouse([...of('login'), '--no-browser'], { input })
  expect(code).toBe(0)
  expect(kit.sentTo('loginUpstream')).toMatchObject([{ agent: 'mailbot' }])
  expect(out).toContain('Login of mailbot: at https://login.example as gatehouse')
  // The status says nothing of what agents share, where one has a login of its own.
  expect((await kit.gatehouse(['upstream', 'logout', 'tickets'])).out).toBe(
    'The tokens of tickets are deleted. To use it again: gatehouse upstream login tickets\n',
  )
  const ended = await kit.gatehouse(of('logout'))
  expect(kit.sentTo('logoutUpstream')).toEqual([{}, { agent: 'mailbot' }])
  expect(ended.out).toBe(
    'The tokens of mailbot at tickets are deleted. It is let in with what agents share until there is another login: ' +
      'gatehouse upstream login tickets --as mailbot\n',
  )
  const shown = await kit.gatehouse(['upstream', 'show', 'tickets', '--json'])
  expect(JSON.parse(shown.out).upstream.agent_logins).toEqual({})
  // Without any login, and with agents of whom each needs one.
  const review = JSON.parse(shown.out)
  const own = { ...review, upstream: { ...review.upstream, own_only: true }, agent: 'mailbot' }
  const next = (words: string) => `gatehouse ${words}`
  expect(upstreamLogout.text?.(own, { next } as never)).toContain('It is refused until there is')
})
