import { createHash } from 'node:crypto'
import type { PersonRole } from '@gatehouse/contract'
import { FakeServer } from '../fake-service/fake-server.ts'
import { scriptModel } from '../models/script-model.ts'
import { sentence } from './engine.ts'
import type { OutsideDocument } from './outside.ts'

const idOf = (prefix: string, n: number): string => `${prefix}-${String(n).padStart(26, '0')}`

/** Hash by which the store knows the login of ana. */
export const loginHash = 'a'.repeat(64)

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Ids of what there is in an installation; they are counted, so each is the same in each run. */
export const seeded = {
  /** `email.send` to ana@example.com, which waits for a person. */
  approval: idOf('appr', 1),
  grant: idOf('grant', 1),
  alert: idOf('alert', 1),
  process: idOf('proc', 1),
  schedule: idOf('sched', 1),
  userToken: idOf('ut', 1),
  /** Of ana, in a browser that has been silent since the service started. */
  login: `login-${sha256(`login ${loginHash}`).slice(0, 16)}`,
  /** Waits to be sent; failed, and nobody knows how far it got; took place, and can be undone. */
  write: idOf('wr', 3),
  deadLetter: idOf('wr', 2),
  doneWrite: idOf('wr', 1),
  rollback: idOf('rb', 1),
  auditEntry: idOf('aud', 1),
  secret: 'github_token',
  service: 'mail',
  /** Was killed, and will not come back. */
  node: 'node-000000000001',
  /** Two tools, both accepted. */
  upstream: 'notes',
  /** Over HTTP; its tools wait for a person. */
  waitingUpstream: 'tickets',
  /** Question that `notes` asks first, where a test has it ask. */
  question: idOf('ques', 1),
} as const

export const password = 'correct horse battery'

export const roles: readonly PersonRole[] = ['operator', 'approver', 'viewer']

/** All that is at rest has stood since then. */
export const seedMs = Date.UTC(2026, 2, 1, 12)

export const policy = `version: 1
rules:
  # Only a person lets something out.
  - { match: "email.*", tier: approval_required, reason: Mail leaves the machine }
  - { match: "process.*", tier: autonomous }
  - { match: "mailbox.*", tier: autonomous }
  - { match: "network.*", tier: autonomous }
  - { match: git.push, tier: blocked }
`

export const catalogUrl = 'https://models.example/models.json'

const models = ['tiny', 'odd', 'slow'].map((id) => {
  const bytes = scriptModel({ sentence: id === 'tiny' ? sentence : `The ${id} one.` })
  const facts = { label: 'Tiny', params: '115K', license_tag: 'Apache-2.0' }
  return {
    bytes,
    entry: {
      id,
      url: `https://models.example/${id}.gguf`,
      sha256: sha256(bytes),
      size_bytes: bytes.length,
      ...(id === 'tiny' ? { ...facts, description: 'Says one sentence.' } : {}),
    },
  }
})

const catalog = {
  schema_version: 1,
  models: [...models.map(({ entry }) => entry), { ...models[0]?.entry, id: '../x' }],
}

/** Addresses that can be reached: models, one of which comes only in part, and a service that takes a credential. */
export const documents: Readonly<Record<string, OutsideDocument>> = {
  [catalogUrl]: { bytes: Buffer.from(JSON.stringify(catalog)) },
  'https://api.github.com/user': { bytes: Buffer.from('{}') },
  ...Object.fromEntries(
    models.map(({ entry, bytes }) => [
      entry.url,
      entry.id === 'slow' ? { bytes, stallsAt: 65_536 } : { bytes },
    ]),
  ),
}

const firstValue = 'as it was'

/** The mailbox before anything was done. */
export const createMailServer = (): FakeServer => {
  const server = new FakeServer()
  for (const id of ['a', 'b', 'c']) server.put('INBOX', id, firstValue)
  return server
}

export const change = { id: 'a', value: 'as it is now' } as const

/** The mailbox as `doneWrite` has left it. */
export const createChangedServer = (): FakeServer => {
  const server = createMailServer()
  server.put('INBOX', change.id, change.value, seeded.doneWrite)
  return server
}
