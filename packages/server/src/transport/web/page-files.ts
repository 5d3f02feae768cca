import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

type PageFile = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly tag: string
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const read = (file: string, type: string): PageFile => {
  const bytes = new Uint8Array(readFileSync(file))
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, type, tag }
}

/**
 * The files of the page, read once.
 * @SECURITY A request only ever names a key of this map: there is no path to leave; web/dashboard.test.ts.
 */
export function loadPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const type = types[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    files.set(
      entry.name === 'index.html' ? '/' : `/${entry.name}`,
      read(join(folder, entry.name), type),
    )
  }
  return files
}

/** The answer to a GET or HEAD for one of them. */
export function pageResponse(request: Request, { bytes, type, tag }: PageFile): Response {
  const headers = { 'content-type': type, etag: tag, 'cache-control': 'no-cache' }
  if (request.headers.get('if-none-match') === tag)
    return new Response(null, { status: 304, headers })
  return new Response(request.method === 'HEAD' ? null : bytes, {
    headers: { ...headers, 'content-length': String(bytes.byteLength) },
  })
}
