import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Provider } from 'oidc-provider'

const listen = async (listener: RequestListener): Promise<{ server: Server; url: string }> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** What a test bends. */
export type Bent = {
  /** Of the protected resource's metadata. */
  resource?: Readonly<Record<string, unknown>>
  /** Of the authorization server's metadata. */
  metadata?: Readonly<Record<string, unknown>>
  /** Answers of the token endpoint in place of the real ones. */
  token?: { readonly status: number; readonly body: string } | undefined
  accessTokenSeconds?: number
  rotates?: boolean
}

/** A real authorization server, and an MCP server behind it that takes its tokens alone. */
export class OauthServers implements AsyncDisposable {
  readonly bent: Bent
  /** Bodies of requests for tokens. */
  readonly asked: URLSearchParams[] = []
  /** Whatever was given out and must be seen by nobody. */
  readonly secrets = new Set<string>()
  /** Tokens that the MCP server has taken, in their order. */
  readonly taken: string[] = []
  readonly #servers: Server[] = []
  issuer = ''
  mcp = ''
  #provider!: Provider

  private constructor(bent: Bent) {
    this.bent = bent
  }

  static async open(bent: Bent = {}): Promise<OauthServers> {
    const servers = new OauthServers(bent)
    const login = await listen((request, response) => void servers.#login(request, response))
    servers.issuer = login.url
    servers.#provider = servers.#createProvider()
    const mcp = await listen((request, response) => void servers.#resource(request, response))
    servers.mcp = `${mcp.url}/mcp`
    servers.#servers.push(login.server, mcp.server)
    return servers
  }

  /** Both, as an operator lists addresses of the own network. */
  get targets(): readonly string[] {
    return [this.issuer, this.mcp].map((url) => new URL(url).host)
  }

  asks(grant: string): number {
    return this.asked.filter((body) => body.get('grant_type') === grant).length
  }

  async revokeOne(token: string): Promise<void> {
    await (await this.#provider.AccessToken.find(token))?.destroy()
    await (await this.#provider.RefreshToken.find(token))?.destroy()
  }

  /** Takes every token back, as an administrator would. */
  async revokeAll(): Promise<void> {
    for (const token of this.secrets) await this.revokeOne(token)
  }

  async isGood(token: string): Promise<boolean> {
    const found = await this.#provider.AccessToken.find(token)
    return found?.aud === this.mcp && found.isValid
  }

  /** A person with a browser: follows every step, and returns the address at the end. */
  async browse(address: string, end = '/callback'): Promise<string> {
    const jar = new Map<string, string>()
    let at = address
    for (let step = 0; step < 12; step += 1) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
      await answer.text()
      for (const line of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/)
        jar.set(name, value)
      }
      const next = answer.headers.get('location')
      if (next === null) throw new Error(`${at} ends with status ${answer.status}`)
      at = new URL(next, at).href
      if (at.includes(end)) return at
    }
    throw new Error('it leads in circles')
  }

  #createProvider(): Provider {
    const { accessTokenSeconds = 600, rotates = true } = this.bent
    return new Provider(this.issuer, {
      clients: [
        {
          client_id: 'given',
          client_secret: 'a-secret-of-a-given-client',
          redirect_uris: ['http://127.0.0.1:4711/callback'],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          application_type: 'native',
          token_endpoint_auth_method: 'client_secret_basic',
        },
      ],
      cookies: { keys: ['test'] },
      scopes: ['tools', 'offline_access'],
      rotateRefreshToken: rotates,
      findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      ttl: { AccessToken: accessTokenSeconds, Grant: 86_400, Interaction: 600, Session: 86_400 },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        revocation: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (_context, resource) => ({
            scope: 'tools',
            audience: resource,
            accessTokenTTL: accessTokenSeconds,
            accessTokenFormat: 'opaque',
          }),
        },
      },
    })
  }

  async #login(
    ...[request, response]: Parameters<RequestListener<typeof IncomingMessage>>
  ): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.issuer)
    if (pathname.startsWith('/interaction/')) return await this.#consent(request, response)
    if (pathname.includes('/.well-known/') && this.bent.metadata) {
      const answer: RequestListener = (...both) => void this.#provider.callback()(...both)
      return answerChanged(answer, request, response, (text) =>
        JSON.stringify({ ...JSON.parse(text), ...this.bent.metadata }),
      )
    }
    if (pathname !== '/token') return void this.#provider.callback()(request, response)
    const body = await bodyOf(request)
    this.asked.push(new URLSearchParams(body))
    if (this.bent.token) {
      const { status, body: text } = this.bent.token
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
      return
    }
    Object.assign(request, { body })
    const answer: RequestListener = (...both) => void this.#provider.callback()(...both)
    answerChanged(answer, request, response, (text) => {
      const { access_token, refresh_token } = JSON.parse(text)
      for (const token of [access_token, refresh_token]) if (token) this.secrets.add(token)
      return text
    })
  }

  /** Ana is always there, and agrees to everything. */
  async #consent(
    ...[request, response]: Parameters<RequestListener<typeof IncomingMessage>>
  ): Promise<void> {
    const { prompt, params, session } = await this.#provider.interactionDetails(request, response)
    if (prompt.name === 'login') {
      const login = { accountId: 'ana' }
      return await this.#provider.interactionFinished(request, response, { login })
    }
    const grant = new this.#provider.Grant({
      accountId: session?.accountId ?? 'ana',
      clientId: String(params['client_id']),
    })
    grant.addOIDCScope('tools offline_access')
    grant.addResourceScope(String(params['resource']), 'tools')
    const consent = { grantId: await grant.save() }
    await this.#provider.interactionFinished(request, response, { consent })
  }

  async #resource(
    ...[request, response]: Parameters<RequestListener<typeof IncomingMessage>>
  ): Promise<void> {
    const url = new URL(request.url ?? '/', this.mcp)
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', this.mcp).href
    if (url.href === metadata) {
      const found = {
        resource: this.mcp,
        authorization_servers: [this.issuer],
        scopes_supported: ['tools'],
        ...this.bent.resource,
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
      return
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined || !(await this.isGood(token))) {
      const challenge = `Bearer resource_metadata="${metadata}"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return
    }
    this.taken.push(token)
    const { method = 'GET' } = request
    const body = method === 'POST' ? await bodyOf(request) : null
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const answer = await createMcpHandler(() => createTools(token)).fetch(
      new Request(url, { method, headers: headers as [string, string][], body }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.flushHeaders()
    if (answer.body === null) response.end()
    else await pipeline(answer.body, response).catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

const createTools = (token: string): McpServer => {
  const server = new McpServer({ name: 'tickets', version: '1.0.0' })
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
  server.registerTool('list', { description: 'Lists tickets.' }, () => text('no tickets'))
  server.registerTool('leak', { description: 'Says too much.' }, () => text(`token: ${token}`))
  return server
}

/** Passes an answer on with another body. */
const answerChanged = (
  inner: RequestListener,
  request: IncomingMessage,
  response: Parameters<RequestListener>[1],
  change: (text: string) => string,
): void => {
  const end = response.end.bind(response)
  response.end = ((chunk: unknown) => {
    const text = change(Buffer.from((chunk ?? '') as string).toString())
    response.setHeader('content-length', Buffer.byteLength(text))
    return end(text)
  }) as never
  inner(request, response)
}
