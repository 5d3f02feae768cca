import { describe, expect, test } from 'vitest'
import { decideUse, isFor, type Scope, type WantedUse } from './scope.ts'

const scope: Scope = {
  capabilities: ['network.credentialed_request', 'git.*'],
  hosts: ['api.example.org', '*.pages.example.org', 'git.example.org:8443'],
  agents: ['coder'],
}
const honest: WantedUse = { agent: 'coder', capability: 'git.push', host: 'api.example.org' }
const isAllowed = (use: Partial<WantedUse>, over: Partial<Scope> = {}, name = 'token') =>
  decideUse(name, { ...scope, ...over }, { ...honest, ...use }).allowed

describe('a scope', () => {
  test.each([
    ['the agent, a capability of the group, the host', {}],
    ['a capability by its name', { capability: 'network.credentialed_request' }],
    ['another spelling of the host', { host: 'API.Example.ORG.' }],
    ['the usual port written out', { host: 'api.example.org:443' }],
    ['a host below a star', { host: 'a.b.pages.example.org' }],
    ['the shortest host below a star', { host: 'a.pages.example.org' }],
    ['another spelling of a host with its port', { host: 'Git.example.org.:8443' }],
    ['the service itself, which is no agent', { agent: null }],
    ['the port that it names', { host: 'git.example.org:8443' }],
  ] as const)('lets through %s', (_, use) => {
    expect(isAllowed(use)).toBe(true)
  })

  test.each([
    ['another agent', { agent: 'Coder' }],
    ['another capability', { capability: 'network.http_request' }],
    ['a group that only begins alike', { capability: 'gitlab.push' }],
    ['a host that only begins alike', { host: 'api.example.org.evil.example' }],
    ['a host that only ends alike', { host: 'evilapi.example.org' }],
    ['the host above a star', { host: 'pages.example.org' }],
    ['nothing in front of a star', { host: '.pages.example.org' }],
    ['what only ends like a star', { host: 'evil-pages.example.org' }],
    ['another port', { host: 'api.example.org:8443' }],
    ['a port that only begins like the usual one', { host: 'api.example.org:4430' }],
    ['a capability that only begins alike', { capability: 'network.credentialed_requests' }],
    ['a capability that only ends otherwise', { capability: 'network.credentialed_requesT' }],
    ['the usual port where another is named', { host: 'git.example.org' }],
    ['no host where hosts are named', { host: null }],
    ['the service with a capability that is not named', { agent: null, capability: 'service:x' }],
  ] as const)('refuses %s', (_, use) => {
    expect(isAllowed(use)).toBe(false)
  })

  test('refuses all where it names nothing', () => {
    for (const part of ['agents', 'capabilities', 'hosts'] as const)
      expect(isAllowed({}, { [part]: [] })).toBe(false)
    expect(isAllowed({ host: null }, { hosts: [] })).toBe(true)
  })

  test('means every agent only by a star written out', () => {
    expect(isAllowed({ agent: 'anybody' }, { agents: ['*'] })).toBe(true)
    expect(isFor('token', { ...scope, agents: ['*'] }, 'anybody')).toBe(true)
    expect(isFor('token', scope, 'anybody')).toBe(false)
    expect(isFor('token', { ...scope, capabilities: [] }, 'coder')).toBe(false)
    expect(isFor('token', { ...scope, agents: ['mailbot', 'coder'] }, 'coder')).toBe(true)
  })

  test("keeps the service's own from agents, and lets the service use them", () => {
    const all = { agents: ['*'], capabilities: ['service:*', 'git.*'], hosts: [] }
    expect(isAllowed({ host: null }, all, 'service:mail')).toBe(false)
    expect(isFor('service:mail', all, 'coder')).toBe(false)
    const own = { agent: null, capability: 'service:mail', host: 'imap.example.org:993' }
    expect(isAllowed(own, all, 'service:mail')).toBe(true)
    expect(isAllowed({ ...own, capability: 'git.push' }, all, 'service:mail')).toBe(false)
    expect(isAllowed({ ...own, agent: 'coder' }, all, 'service:mail')).toBe(false)
  })

  const hosts = 'api.example.org, *.pages.example.org, git.example.org:8443'

  test.each<[string, Partial<WantedUse>, Partial<Scope>, string]>([
    [`its hosts are ${hosts}`, { host: 'evil.example' }, {}, 'token'],
    [`it is bound to hosts (${hosts}), and this use names none`, { host: null }, {}, 'token'],
    ['its agents are none', {}, { agents: [] }, 'token'],
    [
      'its capabilities are network.credentialed_request, git.*',
      { capability: 'email.send' },
      {},
      'token',
    ],
    ['it belongs to the service itself', {}, {}, 'service:mail'],
    ['only a connection of the service uses it', { agent: null }, {}, 'service:mail'],
  ])('says what stands in the way: %s', (reason, use, over, name) => {
    const verdict = decideUse(name, { ...scope, ...over }, { ...honest, ...use })
    expect(verdict).toEqual({ allowed: false, reason })
  })
})
