import type { Upstream } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { upstreamText } from './upstream-text.ts'

const usual = { organisation: null, authority: 'Usual Root', authority_key: 'ab'.repeat(32) }
const other = {
  organisation: 'Acme\u001b[2J',
  authority: 'Other Root',
  authority_key: 'cd'.repeat(32),
}

const upstream: Upstream = {
  name: 'tickets',
  version: 1,
  server: { kind: 'http', url: 'https://mcp.example.org/mcp' },
  grants: { folders: [], hosts: [], environment: {} },
  credentials: {},
  agent_credentials: {},
  own_only: false,
  per_agent: true,
  login: null,
  agent_logins: {},
  status: 'ready',
  reason: null,
  identity: null,
  certificate: usual,
  accepted_certificate: usual,
  connections: 0,
  offered: 2,
  waiting: 0,
  declined: 0,
  refused: 0,
  added_at: '2126-01-01T00:00:00.000Z',
  seen_at: null,
}

const certificateLines = (change: Partial<Upstream>) =>
  upstreamText({ ...upstream, ...change })
    .split('\n')
    .filter((line) => /ertificate|accepted/.test(line))

test('a certificate is shown with its owner and its authority, and beside the accepted one where that is another', () => {
  expect(certificateLines({})).toEqual(['Certificate: under Usual Root (key abababababababab)'])
  expect(certificateLines({ accepted_certificate: null })).toEqual(certificateLines({}))
  expect(certificateLines({ certificate: other })).toEqual([
    'Certificate: of Acme\\u{1b}[2J, under Other Root (key cdcdcdcdcdcdcdcd), which is not the accepted one',
    '  accepted: under Usual Root (key abababababababab)',
  ])
  expect(certificateLines({ certificate: null, accepted_certificate: null })).toEqual([])
})
