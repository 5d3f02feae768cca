import {
  type AddUpstream,
  GatehouseError,
  type Upstream,
  type UpstreamReview,
  type UpstreamTool,
} from '@gatehouse/contract'
import type { UpstreamUseCases } from '@gatehouse/server/app/upstreams/upstreams'

const toolOf = (upstream: string, state: UpstreamTool['state']): UpstreamTool => ({
  capability: `${upstream}.add_note`,
  tool: 'add_note',
  title: null,
  description: 'Adds a note.',
  state,
  problem: null,
  renamed_from: null,
  suggested_tier: 'approval_required',
  arguments: ['text'],
  marks: [],
  definition_hash: 'sha256:ab',
  accepted: null,
  found: null,
})

const upstreamOf = (
  { name, server, grants, per_agent }: AddUpstream,
  offered: boolean,
): Upstream => ({
  name,
  server,
  grants,
  credentials: {},
  per_agent,
  login: null,
  status: offered ? 'ready' : 'needs_review',
  reason: offered ? null : '1 tool waits for a person',
  identity: { name: 'notes-server', version: '1.0.0', protocol: '2025-11-25' },
  connections: 0,
  offered: offered ? 1 : 0,
  waiting: offered ? 0 : 1,
  refused: 0,
  added_at: '2026-03-01T12:00:00.000Z',
  seen_at: '2026-03-01T12:00:00.000Z',
})

const notes: AddUpstream = {
  name: 'notes',
  server: { kind: 'stdio', command: 'notes-server', args: [] },
  grants: { folders: [], hosts: [], environment: {} },
  credentials: {},
  per_agent: true,
  dry_run: false,
}

const reviewOf = (order: AddUpstream, offered: boolean): UpstreamReview => ({
  upstream: upstreamOf(order, offered),
  tools: [toolOf(order.name, offered ? 'offered' : 'new')],
  digest: 'sha256:cd',
  hosts_refused: [],
})

/** A server `notes` that waits for a person, for tests of the command line. */
export const fakeUpstreams = (): UpstreamUseCases => {
  const known = new Map([[notes.name, notes]])
  const found = (name: string, offered = false): UpstreamReview => {
    const order = known.get(name)
    if (!order) throw new GatehouseError('UpstreamNotFound', { upstream: name })
    return reviewOf(order, offered)
  }
  return {
    listUpstreams: async () => ({ upstreams: [upstreamOf(notes, false)] }),
    showUpstream: async (_op, { name }) => found(name),
    async addUpstream(_op, input) {
      if (!input.dry_run) known.set(input.name, input)
      return reviewOf(input, false)
    },
    acceptUpstream: async (_op, { name }) => found(name, true),
    refreshUpstream: async (_op, { name }) => found(name),
    restartUpstream: async (_op, { name }) => found(name),
    loginUpstream: async (_op, { name, redirect_url }) => ({
      name: found(name).upstream.name,
      address: `https://login.example/authorize?redirect_uri=${encodeURIComponent(redirect_url)}`,
      state: 'a-state',
      issuer: 'https://login.example',
      expires_at: '2126-03-01T12:10:00.000Z',
    }),
    async finishUpstreamLogin(_op, { name, redirected }) {
      const { searchParams } = new URL(redirected)
      if (searchParams.get('code') !== 'a-code')
        throw new GatehouseError('UpstreamLoginRefused', {
          upstream: name,
          detail: 'its authorization server answers access_denied',
        })
      return found(name)
    },
    logoutUpstream: async (_op, { name }) => found(name),
    suggestUpstreamRules: async (_op, { name }) => ({
      policy: `# Of ${found(name).upstream.name}.\nversion: 1\n`,
    }),
    removeUpstream: async (_op, { name }) => ({ name: found(name).upstream.name, removed: true }),
  }
}
