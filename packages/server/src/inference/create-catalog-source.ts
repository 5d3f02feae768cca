import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { catalogBytesMax } from '../domain/models/parse-catalog.ts'
import type { CatalogSource, FetchedCatalog } from '../ports/models.ts'
import type { Outbound } from '../ports/outbound.ts'

export type CatalogSourceOptions = {
  /** Null: no catalog. */
  readonly url: string | null
  /** Where the last one that was fetched is kept. */
  readonly file: string
  readonly outbound: Outbound
  readonly timeoutMs?: number
}

const redirectsMax = 5
/** Base64 of the largest catalog, and room for the rest. */
const keptBytesMax = 2 * catalogBytesMax

const unavailable = (detail: string, cause?: unknown): never => {
  throw new GatehouseError('CatalogUnavailable', { detail }, { cause })
}

const parseKept = (text: string, url: string): FetchedCatalog | null => {
  const kept = JSON.parse(text) as Readonly<Record<string, unknown>>
  const { etag, fetched_ms, body } = kept
  if (kept['url'] !== url || typeof body !== 'string' || typeof fetched_ms !== 'number') return null
  return {
    bytes: Buffer.from(body, 'base64'),
    etag: typeof etag === 'string' ? etag : null,
    fetched_ms,
  }
}

/** Whole or not at all: a reader must never find half of it. */
async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}

/** The published catalog: fetched through the guard, kept in the data directory. */
export const createCatalogSource = (options: CatalogSourceOptions): CatalogSource => {
  const { url, file, outbound, timeoutMs = 30_000 } = options
  return {
    url,

    async kept() {
      if (url === null) return null
      const text = await readFile(file, 'utf8').catch(() => null)
      if (text === null || text.length > keptBytesMax) return null
      try {
        return parseKept(text, url)
      } catch {
        // A copy that cannot be read is as good as none: the catalog is fetched again.
        return null
      }
    },

    async keep({ bytes, etag, fetched_ms }) {
      const body = Buffer.from(bytes).toString('base64')
      await replaceFile(file, `${JSON.stringify({ url, etag, fetched_ms, body })}\n`)
    },

    async fetch(etag, signal) {
      if (url === null) return unavailable('catalog.url is not set')
      try {
        await using answer = await outbound.request(
          {
            url,
            method: 'GET',
            headers: {
              accept: 'application/json',
              ...(etag === null ? {} : { 'if-none-match': etag }),
            },
            body: null,
            timeout_ms: timeoutMs,
            redirects_max: redirectsMax,
            https_only: true,
            body_bytes_max: catalogBytesMax,
          },
          signal,
        )
        if (answer.status === 304 && etag !== null) return null
        if (answer.status !== 200)
          return unavailable(`${new URL(answer.url).host} answered ${answer.status}`)
        const parts: Uint8Array[] = []
        for await (const chunk of answer.body) parts.push(chunk)
        return { bytes: Buffer.concat(parts), etag: answer.headers['etag'] ?? null }
      } catch (cause) {
        if (signal.aborted) throw cause
        if (cause instanceof GatehouseError && cause.type === 'CatalogUnavailable') throw cause
        return unavailable(cause instanceof GatehouseError ? cause.message : 'it failed', cause)
      }
    },
  }
}
