import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {
  createServer as createPlain,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { issueAuthority, issueLeaf } from '../../src/tls/issue.ts'
import { plainGit } from './kit.ts'

const head = (bytes: Buffer): { status: number; headers: Record<string, string>; body: Buffer } => {
  const end = bytes.indexOf('\r\n\r\n')
  const lines = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]),
  )
  return {
    status: Number.parseInt(headers['status'] ?? '200', 10),
    headers,
    body: bytes.subarray(end + 4),
  }
}

/** A commit for `git fast-import`; where it goes on from something else than the one before it, it is told so. */
type Commit = (from: string) => string

const commitOf =
  (file: string, content: string, message: string): Commit =>
  (from) =>
    [
      'commit refs/heads/main\n',
      `committer Ana <ana@example.org> ${Math.floor(Date.now() / 1000)} +0000\n`,
      `data ${Buffer.byteLength(message)}\n${message}\n`,
      from,
      `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    ].join('')

/** Real remotes: `git http-backend` behind HTTPS with a login, by an authority of the test's own. */
export class GitServer implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-git-server-'))
  readonly caFile = join(this.folder, 'ca.pem')
  readonly login = `robot:s3cr3t-${Math.random().toString(36).slice(2)}`
  /** `method url`, and whether it was let in. */
  readonly requests: string[] = []
  /** Called before each request is answered. */
  onRequest: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  #server: Server = createPlain()
  isPlain = false
  port = 0

  static async open({ isPlain = false } = {}): Promise<GitServer> {
    const server = new GitServer()
    const names = { dns: ['git.example'], ip: ['127.0.0.1'] }
    const authority = await issueAuthority({ names, nowMs: Date.now() })
    writeFileSync(server.caFile, authority.cert)
    const { cert, key } = await issueLeaf({ authority, names, nowMs: Date.now() })
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      server.#answer(request, response)
    server.isPlain = isPlain
    server.#server = isPlain ? createPlain(listener) : createServer({ cert, key }, listener)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    server.port = (server.#server.address() as AddressInfo).port
    return server
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  url(name: string): string {
    return `${this.isPlain ? 'http' : 'https'}://${this.host}/${name}`
  }

  path(name: string): string {
    return join(this.folder, 'repositories', name)
  }

  /** A bare repository with so many commits, each of a file. */
  create(name: string, commits = 1): string {
    const bare = this.path(name)
    mkdirSync(bare, { recursive: true })
    plainGit(bare, 'init', '--quiet', '--bare', '--initial-branch=main', '.')
    appendFileSync(join(bare, 'config'), '[http]\n\treceivepack = true\n')
    const files = Array.from({ length: commits }, (_, at) => at + 1)
    this.#import(
      name,
      files.map((at) => commitOf(`file-${at}.txt`, `${at}\n`, `Commit ${at}`)),
    )
    chmodSync(bare, 0o755)
    return this.url(name)
  }

  /** One more commit, as by somebody else. */
  add(name: string, file: string, content: string, message: string): string {
    this.#import(name, [commitOf(file, content, message)])
    return this.head(name)
  }

  /** Commits on `main`, by one process for all of them. */
  #import(name: string, commits: readonly Commit[]): void {
    const bare = this.path(name)
    const from = existsSync(join(bare, 'refs/heads/main')) ? 'from refs/heads/main^0\n' : ''
    const input = commits.map((commit, at) => commit(at === 0 ? from : '')).join('')
    execFileSync('git', ['fast-import', '--quiet'], { cwd: bare, input })
  }

  head(name: string, branch = 'main'): string {
    return plainGit(this.path(name), 'rev-parse', `refs/heads/${branch}`)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const wanted = `Basic ${Buffer.from(this.login).toString('base64')}`
    const isIn = request.headers.authorization === wanted
    this.requests.push(`${request.method} ${request.url} ${isIn ? 'in' : 'out'}`)
    if (this.onRequest(request, response)) return
    if (!isIn && !this.isPlain) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('login please')
      return
    }
    const url = new URL(request.url ?? '/', 'https://git')
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: join(this.folder, 'repositories'),
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        REMOTE_USER: 'robot',
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const body =
      request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
    body.pipe(child.stdin).on('error', () => {})
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('close', () => {
      const { status, headers, body: content } = head(Buffer.concat(chunks))
      response.writeHead(status, headers).end(content)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.folder, { recursive: true, force: true })
  }
}
