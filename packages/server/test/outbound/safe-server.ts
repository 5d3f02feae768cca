import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { issueAuthority, issueLeaf, type Pair } from '../../src/tls/issue.ts'

export const temporaryFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-outbound-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

const names = { dns: ['safe.example'], ip: ['127.0.0.1'] }

/** An authority of the test's own, for `safe.example` with all below it, and 127.0.0.1. */
export const makeAuthority = async (): Promise<{ pair: Pair; caFile: string }> => {
  const pair = await issueAuthority({ names, nowMs: Date.now() })
  const caFile = join(temporaryFolder(), 'ca.pem')
  writeFileSync(caFile, pair.cert)
  return { pair, caFile }
}

/** A server that speaks TLS with a certificate of that authority. */
export const openSafe = async (
  authority: Pair,
  listener: RequestListener = (_request, response) => response.end('safe'),
  dns: readonly string[] = names.dns,
): Promise<{ readonly port: number; readonly hits: IncomingMessage[] }> => {
  const leaf = { authority, names: { dns, ip: names.ip }, nowMs: Date.now() }
  const { cert, key } = await issueLeaf(leaf)
  const hits: IncomingMessage[] = []
  const server = createServer({ cert, key }, (request, response) => {
    hits.push(request)
    listener(request, response)
  })
  // As openCanary has it.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, hits }
}
