import { GatehouseError } from '@gatehouse/contract'
import type { UpstreamConnection, UpstreamHost } from '@gatehouse/server/ports/upstream'
import type { UpstreamLogins } from '@gatehouse/server/ports/upstream-login'

const tools = [
  {
    name: 'add_note',
    description: 'Adds a note.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', description: 'What to note.' } },
      required: ['text'],
    },
  },
  {
    name: 'list_notes',
    description: 'Lists the notes.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
] as const

const schema = {
  type: 'object',
  properties: {
    folder: { type: 'string', title: 'Folder', maxLength: 20 },
    password: { type: 'string', description: 'Of the notebook.' },
    colour: {
      type: 'string',
      oneOf: [
        { const: 'red', title: 'Red' },
        { const: 'blue', title: 'Blue' },
      ],
      default: 'red',
    },
  },
  required: ['folder'],
}

const openNotes = (hostsRefused: readonly string[]): UpstreamConnection => {
  let end: (reason: string) => void = () => {}
  const closed = new Promise<string>((resolve) => {
    end = resolve
  })
  return {
    certificate: null,
    identity: { name: 'notes-server', version: '1.0.0', protocol: '2025-11-25' },
    listTools: async () => tools,
    async call({ tool, arguments: given, signal, ask }) {
      const asked = { kind: 'form', message: 'Which ones?', schema } as const
      if (given['ask'] === true) await ask(asked, 0, signal)
      return { content: [{ type: 'text', text: `${tool} is done` }] }
    },
    tellsChanges: false,
    watch: async (uri) => {
      throw new GatehouseError('UpstreamFailed', { upstream: 'notes', detail: `it has no ${uri}` })
    },
    isForgotten: false,
    onForgotten: () => {},
    changingLists: [],
    onListChanged: () => {},
    closed,
    hostsRefused: () => hostsRefused,
    close: async () => end('it was closed'),
  }
}

const wantedBy: Readonly<Record<string, readonly string[]>> = { curious: ['news.example:443'] }

/** Servers without processes: each is the same one, that keeps notes, but for programs that end at once or want a host. */
export const createTestUpstreams = (host: UpstreamHost): UpstreamHost => ({
  ...host,
  schemas: () => host.schemas(),
  forget: async () => {},
  async connect({ name, config: { server, grants } }) {
    if (server.kind === 'stdio' && server.command === 'broken')
      throw new GatehouseError('UpstreamFailed', { upstream: name, detail: 'it ended with code 1' })
    const wanted = server.kind === 'stdio' ? (wantedBy[server.command] ?? []) : []
    return openNotes(wanted.filter((host) => !grants.hosts.includes(host)))
  },
})

/** Logins at which everybody is let in who comes back with a code. */
export const createTestLogins = (): UpstreamLogins => {
  let begunFor: string | null = null
  return {
    async begin({ redirect_url, agent }) {
      begunFor = agent
      return {
        address: `https://login.example/authorize?redirect_uri=${encodeURIComponent(redirect_url)}`,
        state: 'a-state',
        issuer: 'https://login.example',
        expires_ms: Date.UTC(2126, 2, 1),
      }
    },
    async finish({ name }, redirected) {
      const { searchParams } = new URL(redirected)
      const detail = `its authorization server answers ${searchParams.get('error')}`
      if (!searchParams.has('code'))
        throw new GatehouseError('UpstreamLoginRefused', { upstream: name, detail })
      return {
        agent: begunFor,
        issuer: 'https://login.example',
        client_id: 'gatehouse',
        scopes: [],
      }
    },
    end: async () => ({ revoked: true }),
  }
}
