import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

type Bytes = Uint8Array<ArrayBuffer>

export type PageFile = {
  readonly bytes: Bytes
  /** The same, compressed when it is first asked for. */
  readonly compressed: () => Promise<Bytes>
  readonly type: string
  readonly tag: string
  /** A name that changes with the content: a browser may keep the file for good. */
  readonly lasting: boolean
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

const compress = promisify(gzip)

const read = (file: string, type: string, lasting: boolean): PageFile => {
  const bytes = new Uint8Array(readFileSync(file))
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  let compressing: Promise<Bytes> | undefined
  const compressed = () => {
    compressing ??= compress(bytes).then((made) => new Uint8Array(made))
    return compressing
  }
  return { bytes, compressed, type, tag, lasting }
}

export type PageFiles = (path: string) => PageFile | undefined

/** Addresses of the page's own views, as `/agents/mailbot`: words, none of them a way up or out. */
const view =
  /^\/[a-z][a-z-]*(?:\/(?!\.)(?:[\w.:~@+-]|%(?!2[fF]|5[cC]|00|2[eE])[\da-fA-F]{2})+)*\/?$/

/** Reads when it is first asked for: few people ask for all documents. */
const readOnce = (file: string, type: string, lasting: boolean): (() => PageFile) => {
  let found: PageFile | undefined
  return () => {
    found ??= read(file, type, lasting)
    return found
  }
}

/** Address of a file: `/` for the page, `/docs/` for the first document. */
const addressOf = (path: string): string =>
  path === '/index.html' || path.startsWith('/docs/') ? path.replace(/index\.html$/, '') : path

/**
 * The files of the page, each read once. Its views are addresses of the one page, which shows what they name.
 * @SECURITY A request only ever names a key of this map: there is no path to leave; web/dashboard.test.ts.
 */
export function loadPageFiles(folder: string): PageFiles {
  const files = new Map<string, () => PageFile>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join('/')}`
    files.set(addressOf(path), readOnce(file, type, path.startsWith('/assets/')))
  }
  const isView = (path: string) => view.test(path) && !/^\/(?:assets|docs)(?:\/|$)/.test(path)
  return (path) => {
    const asked = files.get(path.replace(/^(\/docs\/.*)index\.html$/, '$1'))
    return (asked ?? (isView(path) ? files.get('/') : undefined))?.()
  }
}

const takesGzip = (headers: Headers): boolean =>
  /(?:^|,)\s*gzip\s*(?:,|$)/i.test(headers.get('accept-encoding') ?? '')

/** The answer to a GET or HEAD for one of them. */
export async function pageResponse(request: Request, file: PageFile): Promise<Response> {
  const { type, tag, lasting } = file
  const headers = {
    'content-type': type,
    etag: tag,
    'cache-control': lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  }
  if (request.headers.get('if-none-match') === tag)
    return new Response(null, { status: 304, headers })
  const zipped = takesGzip(request.headers)
  const bytes = zipped ? await file.compressed() : file.bytes
  return new Response(request.method === 'HEAD' ? null : bytes, {
    headers: {
      ...headers,
      'content-length': String(bytes.byteLength),
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    },
  })
}
